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
	// Steps of mending may wait for minutes, for a replica to drain or for their
	// group's turn, and cost nothing meanwhile.
	concurrentMends = 256
)

// NewSeeds returns a worker for the seed task queue. Start and Stop are the caller's.
func NewSeeds(c client.Client, steps api.SeedSteps, metrics *Metrics) sdk.Worker {
	o := options(metrics)
	o.MaxConcurrentActivityExecutionSize = concurrentSteps
	o.MaxConcurrentLocalActivityExecutionSize = concurrentSteps
	w := sdk.New(c, api.TaskQueueSeed, o)
	RegisterSeeds(w, steps)
	return w
}

// NewMends returns a worker for the mend task queue. Start and Stop are the caller's.
func NewMends(c client.Client, steps api.MendSteps, metrics *Metrics) sdk.Worker {
	o := options(metrics)
	o.MaxConcurrentActivityExecutionSize = concurrentMends
	w := sdk.New(c, api.TaskQueueMend, o)
	RegisterMends(w, steps)
	return w
}

func options(metrics *Metrics) sdk.Options {
	return sdk.Options{
		WorkerStopTimeout:                      stopTimeout,
		MaxConcurrentWorkflowTaskExecutionSize: concurrentWorkflows,
		DisableRegistrationAliasing:            true,
		Interceptors:                           []interceptor.WorkerInterceptor{&failures{}, &timing{metrics: metrics}},
	}
}

// Registry is the part of a worker, a replayer or a test environment that takes
// workflows and activities.
type Registry interface {
	RegisterWorkflowWithOptions(w any, options workflow.RegisterOptions)
	RegisterActivityWithOptions(a any, options activity.RegisterOptions)
}

// RegisterSeeds registers everything that the seed task queue serves.
func RegisterSeeds(r Registry, steps api.SeedSteps) {
	r.RegisterWorkflowWithOptions(workflows.ReconcileDatabase, workflow.RegisterOptions{Name: api.WorkflowReconcileDatabase})
	r.RegisterWorkflowWithOptions(workflows.ExplainSeed, workflow.RegisterOptions{Name: api.WorkflowExplainSeed})
	registerSteps(r, map[string]any{
		"Admit": steps.Admit, "Probe": steps.Probe, "Adopt": steps.Adopt, "Create": steps.Create,
		"Publish": steps.Publish, "Finish": steps.Finish, "Report": steps.Report,
	})
}

// RegisterMends registers everything that the mend task queue serves.
func RegisterMends(r Registry, steps api.MendSteps) {
	r.RegisterWorkflowWithOptions(workflows.RepairReplicaAuth, workflow.RegisterOptions{Name: api.WorkflowRepairReplicaAuth})
	r.RegisterWorkflowWithOptions(workflows.ExplainReplica, workflow.RegisterOptions{Name: api.WorkflowExplainReplica})
	r.RegisterWorkflowWithOptions(workflows.SweepReplicas, workflow.RegisterOptions{Name: api.WorkflowSweepReplicas})
	registerSteps(r, map[string]any{
		"Inspect": steps.Inspect, "Drain": steps.Drain, "Repair": steps.Repair,
		"Resume": steps.Resume, "Tell": steps.Tell, "Sweep": steps.Sweep,
	})
}

func registerSteps(r Registry, steps map[string]any) {
	for name, step := range steps {
		r.RegisterActivityWithOptions(step, activity.RegisterOptions{Name: name})
	}
}
