// Package worker wires workflows and activities into a Temporal worker.
package worker

import (
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/workflows"
)

// stopTimeout is how long a stopping worker lets running activities end. It is
// above a creation's longest statement (10 s) and below the pod's grace period.
const stopTimeout = 20 * time.Second

// Bounds of what one worker does at once. Steps wait on servers, not on this
// process; 64 keep two cores busy and a server's connections in sight.
const (
	concurrentSteps     = 64
	concurrentWorkflows = 64
)

// New returns a worker for the seed task queue. Start and Stop are the caller's.
func New(c client.Client, steps api.SeedSteps, metrics *Metrics) sdk.Worker {
	w := sdk.New(c, api.TaskQueueSeed, sdk.Options{
		WorkerStopTimeout:                       stopTimeout,
		MaxConcurrentActivityExecutionSize:      concurrentSteps,
		MaxConcurrentLocalActivityExecutionSize: concurrentSteps,
		MaxConcurrentWorkflowTaskExecutionSize:  concurrentWorkflows,
		DisableRegistrationAliasing:             true,
		Interceptors:                            []interceptor.WorkerInterceptor{&failures{}, &timing{metrics: metrics}},
	})
	Register(w, steps)
	return w
}

// Registry is the part of a worker, a replayer or a test environment that takes
// workflows and activities.
type Registry interface {
	RegisterWorkflowWithOptions(w any, options workflow.RegisterOptions)
	RegisterActivityWithOptions(a any, options activity.RegisterOptions)
}

// Register registers everything that the seed task queue serves.
func Register(r Registry, steps api.SeedSteps) {
	r.RegisterWorkflowWithOptions(workflows.ReconcileDatabase, workflow.RegisterOptions{Name: api.WorkflowReconcileDatabase})
	r.RegisterWorkflowWithOptions(workflows.ExplainSeed, workflow.RegisterOptions{Name: api.WorkflowExplainSeed})
	for name, step := range map[string]any{
		"Admit": steps.Admit, "Probe": steps.Probe, "Adopt": steps.Adopt, "Create": steps.Create,
		"Publish": steps.Publish, "Finish": steps.Finish, "Report": steps.Report,
	} {
		r.RegisterActivityWithOptions(step, activity.RegisterOptions{Name: name})
	}
}
