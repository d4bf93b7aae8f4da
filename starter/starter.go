// Package starter is what starts workflows: the watcher in the cluster and the
// commands of a person.
package starter

import (
	"context"
	"errors"
	"fmt"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/seedmend/seedmend/api"
)

// Starter starts and signals workflows. Deterministic IDs make doubles harmless.
type Starter struct {
	Client client.Client
	Tuning api.Tuning
	// SearchAttributes says that they are registered.
	SearchAttributes bool
}

// Why a reconcile is asked for.
type Why struct {
	// Recheck: the request was read some time ago, so the run looks first.
	Recheck bool
	// Manual: a person asks for another look.
	Manual bool
}

// Reconcile starts the request's workflow, or signals the one that runs.
func (s *Starter) Reconcile(ctx context.Context, req api.Request, why Why) (client.WorkflowRun, error) {
	req.Conditions = nil // the run reads the live ones; a history need not carry them
	id := api.DatabaseWorkflowID(req.Namespace, req.Name)
	// A run may close between the start that finds it and the signal that misses
	// it. Each turn of that race needs a run of its own, so few tries do.
	for range 5 {
		run, err := s.start(ctx, id, req, why, s.SearchAttributes)
		var invalid *serviceerror.InvalidArgument
		if s.SearchAttributes && errors.As(err, &invalid) {
			// A server may take a minute to know attributes that were just registered.
			run, err = s.start(ctx, id, req, why, false)
		}
		var started *serviceerror.WorkflowExecutionAlreadyStarted
		if !errors.As(err, &started) {
			return run, err
		}
		err = s.Client.SignalWorkflow(ctx, id, started.RunId, api.SignalReconcile, api.ReconcileSignal{Request: req, Manual: why.Manual})
		if !notFound(err) {
			return s.Client.GetWorkflow(ctx, id, started.RunId), err
		}
	}
	return nil, fmt.Errorf("workflow %s opens and closes too fast to be reached; try again", id)
}

func (s *Starter) start(ctx context.Context, id string, req api.Request, why Why, searchable bool) (client.WorkflowRun, error) {
	return s.Client.ExecuteWorkflow(ctx, options(id, req, searchable), api.WorkflowReconcileDatabase, api.ReconcileInput{
		Request: req, Recheck: why.Recheck, SearchAttributes: searchable, Tuning: s.Tuning,
	})
}

// Deleted tells a running workflow that its request is gone.
func (s *Starter) Deleted(ctx context.Context, req api.Request) error {
	err := s.Client.SignalWorkflow(ctx, api.DatabaseWorkflowID(req.Namespace, req.Name), "", api.SignalReconcile, api.ReconcileSignal{Request: req, Deleted: true})
	if notFound(err) {
		return nil
	}
	return err
}

// Explain runs ExplainSeed and waits for its answer. It fails with the
// context's error where no worker takes it in time.
func (s *Starter) Explain(ctx context.Context, req api.Request) (api.Explanation, error) {
	var out api.Explanation
	run, err := s.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                       api.ExplainWorkflowID(req.Namespace, req.Name),
		TaskQueue:                api.TaskQueueSeed,
		WorkflowExecutionTimeout: 2 * time.Minute,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING,
		StaticSummary:            "Explain " + req.Key(),
	}, api.WorkflowExplainSeed, api.ExplainInput{Request: req})
	if err != nil {
		return out, err
	}
	err = run.Get(ctx, &out)
	return out, err
}

func options(id string, req api.Request, searchable bool) client.StartWorkflowOptions {
	options := client.StartWorkflowOptions{
		ID:                                       id,
		TaskQueue:                                api.TaskQueueSeed,
		WorkflowIDReusePolicy:                    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy:                 enums.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		EnableEagerStart:                         true,
		StaticSummary:                            fmt.Sprintf("Seed %s (%s), generation %d", req.Key(), req.Type, req.Generation),
	}
	if searchable {
		options.TypedSearchAttributes = temporal.NewSearchAttributes(
			temporal.NewSearchAttributeKeyKeyword(api.AttributeNamespace).ValueSet(req.Namespace),
			temporal.NewSearchAttributeKeyKeyword(api.AttributeRequest).ValueSet(req.Name),
			temporal.NewSearchAttributeKeyKeyword(api.AttributePhase).ValueSet(api.PhaseAdmitting),
		)
	}
	return options
}

func notFound(err error) bool {
	var missing *serviceerror.NotFound
	return errors.As(err, &missing)
}
