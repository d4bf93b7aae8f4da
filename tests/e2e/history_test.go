package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/failure/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/temporal"

	"github.com/seedmend/seedmend/api"
)

// closed waits until the newest run of the tenant's workflow has ended.
func (x *tenant) closed(t *testing.T) (result api.ReconcileResult) {
	t.Helper()
	err := x.g.Workflows.GetWorkflow(within(t, patience), x.workflow(), "").Get(within(t, patience), &result)
	var ended *temporal.WorkflowExecutionError
	require.True(t, err == nil || errors.As(err, &ended), "%v", err)
	return result
}

// events of the newest run.
func (x *tenant) events(t *testing.T) (all []*history.HistoryEvent) {
	t.Helper()
	it := x.g.Workflows.GetWorkflowHistory(within(t, patience), x.workflow(), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		e, err := it.Next()
		require.NoError(t, err)
		all = append(all, e)
	}
	return all
}

// runs lists all runs of the tenant's workflow, the newest first, once all have
// ended and visibility, which lags behind, has heard of it.
func (x *tenant) runs(t *testing.T) []*workflow.WorkflowExecutionInfo {
	t.Helper()
	x.closed(t)
	var runs []*workflow.WorkflowExecutionInfo
	eventually(t, func(ctx context.Context) error {
		newest, err := x.g.Workflows.DescribeWorkflow(ctx, x.workflow(), "")
		if err != nil {
			return err
		}
		list, err := x.g.Workflows.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Query: fmt.Sprintf("WorkflowId = %q", x.workflow()),
		})
		if err != nil {
			return err
		}
		runs = list.GetExecutions()
		found := false
		for _, r := range runs {
			if r.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
				return errors.New("one still runs")
			}
			found = found || r.GetExecution().GetRunId() == newest.RawResponse.GetWorkflowExecutionInfo().GetExecution().GetRunId()
		}
		if !found {
			return errors.New("the newest run is not listed yet")
		}
		return nil
	})
	return runs
}

// tries is how often each step of a history was tried, and how it failed.
type tries struct {
	step    string
	attempt int32
	regular bool
	failure *failure.Failure
	state   enums.RetryState
}

func (x *tenant) tries(t *testing.T, events []*history.HistoryEvent) (all []tries) {
	t.Helper()
	scheduled := map[int64]string{}
	started := map[int64]int32{}
	for _, e := range events {
		if m := e.GetMarkerRecordedEventAttributes(); m.GetMarkerName() == "LocalActivity" {
			var data struct {
				ActivityType string
				Attempt      int32
			}
			require.NoError(t, json.Unmarshal(m.GetDetails()["data"].GetPayloads()[0].GetData(), &data))
			all = append(all, tries{data.ActivityType, data.Attempt, false, m.GetFailure(), 0})
		}
		if a := e.GetActivityTaskScheduledEventAttributes(); a != nil {
			scheduled[e.GetEventId()] = a.GetActivityType().GetName()
		}
		if a := e.GetActivityTaskStartedEventAttributes(); a != nil {
			started[a.GetScheduledEventId()] = a.GetAttempt()
		}
		if a := e.GetActivityTaskFailedEventAttributes(); a != nil {
			all = append(all, tries{scheduled[a.GetScheduledEventId()], started[a.GetScheduledEventId()], true, a.GetFailure(), a.GetRetryState()})
		}
		if a := e.GetActivityTaskCompletedEventAttributes(); a != nil {
			all = append(all, tries{scheduled[a.GetScheduledEventId()], started[a.GetScheduledEventId()], true, nil, 0})
		}
	}
	return all
}

// lostTask tells whether a workflow task of the newest run was lost, and with it
// the word of the local activities that it did: they are done again.
func (x *tenant) lostTask(t *testing.T) bool {
	t.Helper()
	for _, e := range x.events(t) {
		switch e.GetEventType() {
		case enums.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT, enums.EVENT_TYPE_WORKFLOW_TASK_FAILED:
			return true
		default:
		}
	}
	return false
}

// assertHardFailure checks how the run ended: typed and not retryable at its top
// level, at its first attempt, and so did the step that brought it up.
func (x *tenant) assertHardFailure(t *testing.T, reason api.Reason, message string) {
	t.Helper()
	events := x.events(t)
	first, last := events[0].GetWorkflowExecutionStartedEventAttributes(), events[len(events)-1]
	assert.EqualValues(t, 1, first.GetAttempt())
	assert.Nil(t, first.GetRetryPolicy())
	require.Equal(t, enums.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED, last.GetEventType())
	failed := last.GetWorkflowExecutionFailedEventAttributes()
	assertHard(t, reason, failed.GetFailure())
	assert.True(t, strings.HasPrefix(failed.GetFailure().GetMessage(), message), "%q tells the tenant's message, %q", failed.GetFailure().GetMessage(), message)
	assert.Empty(t, failed.GetNewExecutionRunId())
	for _, each := range x.tries(t, events) {
		if x.patient {
			break
		}
		assert.False(t, each.regular, "%s went to the long retries", each.step)
		assert.EqualValues(t, 1, each.attempt, each.step)
		if each.failure != nil {
			assertHard(t, reason, each.failure)
		}
	}
	runs := x.runs(t)
	assert.Len(t, runs, 1)
	assert.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_FAILED, runs[0].GetStatus())
}

func assertHard(t *testing.T, reason api.Reason, f *failure.Failure) {
	t.Helper()
	assert.Equal(t, string(reason), f.GetApplicationFailureInfo().GetType())
	assert.True(t, f.GetApplicationFailureInfo().GetNonRetryable(), "not to be retried")
	assert.Nil(t, f.GetCause())
}
