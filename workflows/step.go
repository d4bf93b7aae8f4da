package workflows

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/seedmend/seedmend/api"
)

// errSuperseded ends a pass whose request has changed, was deleted, or is to be
// looked at again.
var errSuperseded = errors.New("superseded")

// method is a step by method expression.
type method[In, Out any] func(api.SeedSteps, context.Context, In) (Out, error)

// stepName is the name of a step given by method expression.
func stepName(m any) string {
	full := runtime.FuncForPC(reflect.ValueOf(m).Pointer()).Name()
	return full[strings.LastIndexByte(full, '.')+1:]
}

// step runs one activity: inside the workflow task first, and where that fails
// softly as a regular activity under the patient policy, until it succeeds,
// fails hard, the deadline passes, or a signal supersedes the pass.
func step[In, Out any](r *run, m method[In, Out], in In, summary string) (Out, error) {
	name := stepName(m)
	out, err := local[Out](r.ctx, name, in, summary)
	if err == nil || !soft(err) {
		return out, err
	}
	left := r.deadline().Sub(workflow.Now(r.ctx))
	if left > 0 {
		r.retrying(name, err)
		out, err = regular[Out](r, name, in, summary, left)
		if err == nil || !soft(err) {
			return out, err
		}
		// The deadline also runs while no worker does; a last look is owed
		// before a request is given up on that account.
		out, err = local[Out](r.ctx, name, in, summary+" (last look)")
		if err == nil || !soft(err) {
			return out, err
		}
	}
	return out, api.Failf(api.ProviderUnreachable, "given up after %s of retries in step %s; last cause: %s", r.tuning.Deadline, name, cause(err))
}

func local[Out any](ctx workflow.Context, name string, in any, summary string) (out Out, err error) {
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout:    quickTimeout,
		ScheduleToCloseTimeout: quickTotal,
		RetryPolicy:            quick(),
		Summary:                summary,
	})
	err = workflow.ExecuteLocalActivity(ctx, name, in).Get(ctx, &out)
	return out, err
}

func regular[Out any](r *run, name string, in any, summary string, left time.Duration) (out Out, err error) {
	ctx, cancel := workflow.WithCancel(r.ctx)
	defer cancel()
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ScheduleToCloseTimeout: left,
		StartToCloseTimeout:    patientTimeout,
		RetryPolicy:            patient(),
		Summary:                summary,
	})
	future := workflow.ExecuteActivity(ctx, name, in)
	if r.waitFor(future) {
		err = future.Get(ctx, &out)
		return out, err
	}
	return out, errSuperseded
}

// soft tells whether a step's error may be tried again. A timeout and a
// worker's crash are soft; a cancellation is not an error of the step.
func soft(err error) bool {
	if temporal.IsCanceledError(err) || errors.Is(err, errSuperseded) {
		return false
	}
	if f, ok := api.FromTemporal(err); ok {
		return !f.Hard() && f.Reason != api.SeedChanged
	}
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return !app.NonRetryable()
	}
	return true
}

func cause(err error) string {
	if f, ok := api.FromTemporal(err); ok {
		return fmt.Sprintf("%s: %s", f.Reason, f.Message)
	}
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		if f, ok := api.FromTemporal(timeout.Unwrap()); ok {
			return fmt.Sprintf("%s: %s", f.Reason, f.Message)
		}
		return "the step timed out"
	}
	return "the step failed without a reason of its own"
}
