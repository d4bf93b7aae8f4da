package starter

import (
	"context"
	"errors"
	"fmt"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/seedmend/seedmend/api"
)

// Mends starts, wakes and asks the workflows that mend replicas.
type Mends struct {
	Client client.Client
	// SearchAttributes says that they are registered.
	SearchAttributes bool
}

// Look starts the replica's run, or wakes the one that is under way. A run that
// failed for good is not started anew for the versions that it failed for; one
// that was cut leaves to the next what it has stopped.
func (m *Mends) Look(ctx context.Context, in api.MendInput, now api.Versions, why string) error {
	last, err := m.last(ctx, in.Replica)
	if err != nil {
		return err
	}
	if in.Owed == api.ThreadsNone {
		in.Owed = last.owed
	}
	// What a run has left stopped is started, however it failed.
	if last.failed && in.Owed == api.ThreadsNone && last.versions.Generation == now.Generation && (now.Secret == "" || last.versions.Secret == now.Secret) {
		return nil
	}
	if last.running {
		return m.Wake(ctx, in.Replica, why)
	}
	_, err = m.start(ctx, in)
	var started *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &started) {
		return m.Wake(ctx, in.Replica, why)
	}
	return err
}

func (m *Mends) start(ctx context.Context, in api.MendInput) (client.WorkflowRun, error) {
	in.SearchAttributes = m.SearchAttributes
	run, err := m.Client.ExecuteWorkflow(ctx, m.options(in), api.WorkflowRepairReplicaAuth, in)
	var invalid *serviceerror.InvalidArgument
	if in.SearchAttributes && errors.As(err, &invalid) {
		// A server may take a minute to know attributes that were just registered.
		in.SearchAttributes = false
		run, err = m.Client.ExecuteWorkflow(ctx, m.options(in), api.WorkflowRepairReplicaAuth, in)
	}
	return run, err
}

func (m *Mends) options(in api.MendInput) client.StartWorkflowOptions {
	options := client.StartWorkflowOptions{
		ID:                                       api.ReplicaWorkflowID(in.Replica),
		TaskQueue:                                api.TaskQueueMend,
		WorkflowIDReusePolicy:                    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy:                 enums.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		StaticSummary:                            fmt.Sprintf("Mend replica %s (%s)", in.Replica.Key(), in.Replica.Group.Kind),
	}
	if in.SearchAttributes {
		options.TypedSearchAttributes = temporal.NewSearchAttributes(
			temporal.NewSearchAttributeKeyKeyword(api.AttributeNamespace).ValueSet(in.Replica.Group.Namespace),
			temporal.NewSearchAttributeKeyKeyword(api.AttributeRequest).ValueSet(in.Replica.Group.Name),
			temporal.NewSearchAttributeKeyKeyword(api.AttributePhase).ValueSet(api.PhaseStuck),
		)
	}
	return options
}

// Wake wakes the run that is under way, if there is one.
func (m *Mends) Wake(ctx context.Context, r api.ReplicaRef, why string) error {
	err := m.Client.SignalWorkflow(ctx, api.ReplicaWorkflowID(r), "", api.SignalLook, api.LookSignal{Why: why})
	if notFound(err) {
		return nil
	}
	return err
}

// Owed is what the replica's last run has left stopped, if it was cut. A run that
// is under way sees to that itself, unless it is cut later on.
func (m *Mends) Owed(ctx context.Context, r api.ReplicaRef) (owed api.Threads, running bool, err error) {
	last, err := m.last(ctx, r)
	if last.running {
		return api.ThreadsNone, true, err
	}
	return last.owed, false, err
}

// lastRun is what Temporal knows of a replica's last run.
type lastRun struct {
	running  bool
	failed   bool // for good
	owed     api.Threads
	versions api.Versions
}

func (m *Mends) last(ctx context.Context, r api.ReplicaRef) (last lastRun, err error) {
	answer, err := m.Client.DescribeWorkflow(ctx, api.ReplicaWorkflowID(r), "")
	if notFound(err) {
		return last, nil
	}
	if err != nil {
		return last, err
	}
	info := answer.RawResponse.GetWorkflowExecutionInfo()
	last.running = info.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING
	last.owed = memo[api.Threads](info, api.MemoOwed)
	if info.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_FAILED {
		last.versions = memo[api.Versions](info, api.MemoVersions)
		last.failed = last.versions != api.Versions{}
	}
	return last, nil
}

// memo reads a memo; what is not there, or cannot be read, is the zero value.
func memo[T any](info *workflow.WorkflowExecutionInfo, key string) (value T) {
	payload := info.GetMemo().GetFields()[key]
	if payload != nil {
		_ = converter.GetDefaultDataConverter().FromPayload(payload, &value)
	}
	return value
}

// Repair is a person's: it starts the replica's run without a wait, or skips the
// wait of the one that is under way.
func (m *Mends) Repair(ctx context.Context, r api.ReplicaRef) (client.WorkflowRun, error) {
	last, err := m.last(ctx, r)
	if err != nil {
		return nil, err
	}
	id := api.ReplicaWorkflowID(r)
	if !last.running {
		run, err := m.start(ctx, api.MendInput{Replica: r, Manual: true, Owed: last.owed})
		var started *serviceerror.WorkflowExecutionAlreadyStarted
		if !errors.As(err, &started) {
			return run, err
		}
	}
	handle, err := m.Client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: id, UpdateName: api.UpdateWait, Args: []any{api.WaitUpdate{Skip: true}}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, nil)
	}
	var refused *temporal.ApplicationError
	if errors.As(err, &refused) {
		err = nil // it is at work already
	}
	return m.Client.GetWorkflow(ctx, id, ""), err
}

// Explain runs ExplainReplica and waits for its answer.
func (m *Mends) Explain(ctx context.Context, r api.ReplicaRef) (out api.ReplicaExplanation, err error) {
	run, err := m.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                       api.ExplainReplicaWorkflowID(r),
		TaskQueue:                api.TaskQueueMend,
		WorkflowExecutionTimeout: 2 * time.Minute,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING,
		StaticSummary:            "Explain replica " + r.Key(),
	}, api.WorkflowExplainReplica, api.MendInput{Replica: r, Manual: true})
	if err != nil {
		return out, err
	}
	err = run.Get(ctx, &out)
	return out, err
}

// Outcome waits until a repair ends, or leaves the replica as it is for a
// pause: then trouble says why.
func (m *Mends) Outcome(ctx context.Context, r api.ReplicaRef, run client.WorkflowRun) (result api.MendResult, trouble *api.Trouble, err error) {
	for {
		turn, cancel := context.WithTimeout(ctx, time.Second)
		err := run.Get(turn, &result)
		var deadline *serviceerror.DeadlineExceeded
		late := turn.Err() != nil || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &deadline)
		cancel()
		if err != nil && ctx.Err() != nil {
			return result, nil, ctx.Err()
		}
		if !late {
			return result, nil, err
		}
		answer, err := m.Client.QueryWorkflow(ctx, api.ReplicaWorkflowID(r), "", api.QueryProgress)
		var progress api.MendProgress
		if err == nil {
			err = answer.Get(&progress)
		}
		if err == nil && progress.Phase == api.PhasePaused {
			return result, &api.Trouble{Reason: progress.Reason, Message: progress.Message}, nil
		}
	}
}
