// Package workflows holds orchestration only: order, timers, retries, signals.
package workflows

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/seedmend/seedmend/api"
)

// ReconcileDatabase brings one DatabaseRequest to Ready, or to the one hard
// failure that it amounts to. There is one run a request at a time; a newer
// generation, a deletion and a manual retry reach it as the signal "reconcile".
func ReconcileDatabase(ctx workflow.Context, in api.ReconcileInput) (api.ReconcileResult, error) {
	r := newRun(ctx, in)
	if err := workflow.SetQueryHandler(ctx, api.QueryProgress, func() (api.Progress, error) { return r.progress, nil }); err != nil {
		return api.ReconcileResult{}, err
	}
	for passes := 1; ; passes++ {
		result, err := r.pass()
		r.drain()
		if r.gone {
			return r.ended("the request was deleted"), nil
		}
		if !r.again {
			return result, err
		}
		if passes >= mostPasses || workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			in.Request, in.Recheck = r.request, false
			return api.ReconcileResult{}, workflow.NewContinueAsNewError(ctx, api.WorkflowReconcileDatabase, in)
		}
		r.restart()
	}
}

// run is the state of one workflow run.
type run struct {
	ctx        workflow.Context
	request    api.Request
	tuning     api.Tuning
	recheck    bool
	attributes bool
	started    time.Time
	signals    workflow.ReceiveChannel
	again      bool   // another pass is owed
	gone       bool   // the object was deleted
	provider   string // the matched provider, for the search attribute
	progress   api.Progress
}

func newRun(ctx workflow.Context, in api.ReconcileInput) *run {
	r := &run{
		ctx:        ctx,
		request:    in.Request,
		tuning:     in.Tuning.WithDefaults(),
		recheck:    in.Recheck,
		attributes: in.SearchAttributes,
		signals:    workflow.GetSignalChannel(ctx, api.SignalReconcile),
	}
	r.restart()
	return r
}

// restart begins a pass on the newest request.
func (r *run) restart() {
	r.again = false
	r.started = workflow.Now(r.ctx)
	r.progress = api.Progress{Request: r.request.Key()}
}

func (r *run) deadline() time.Time { return r.started.Add(r.tuning.Deadline) }

// pass works on the request once, and tells the outcome.
func (r *run) pass() (api.ReconcileResult, error) {
	var result api.ReconcileResult
	var err error
	for restarts := 0; ; restarts++ {
		result, err = r.seed()
		f, ok := api.FromTemporal(err)
		if !ok || f.Reason != api.SeedChanged || restarts == mostRestarts {
			break
		}
		r.note("Seed changed", "starting over with the new values")
	}
	if err == nil || errors.Is(err, errSuperseded) || temporal.IsCanceledError(err) {
		return result, err
	}
	return result, r.fail(err)
}

// fail tells a failure in the status, and makes the error that the run ends with.
func (r *run) fail(err error) error {
	f, ok := api.FromTemporal(err)
	if !ok {
		f = api.Failf(api.ProviderUnreachable, "given up: %s", cause(err))
	}
	if !f.Hard() {
		f = api.Failf(api.ProviderUnreachable, "given up: %s: %s", f.Reason, f.Message)
	}
	r.phase(api.PhaseFailed)
	r.progress.Reason, r.progress.Message = f.Reason, f.Message
	r.note("Verdict", string(f.Reason))
	report := api.ReportInput{Request: r.request, Reason: f.Reason, Message: f.Message, Failed: true}
	if _, reportErr := step(r, api.SeedSteps.Report, report, "Status: "+string(f.Reason)); reportErr != nil {
		if errors.Is(reportErr, errSuperseded) || temporal.IsCanceledError(reportErr) {
			return reportErr
		}
		r.note("Report", "the status could not be written: "+cause(reportErr))
	}
	r.upsert(f.Reason)
	return api.ToTemporal(f)
}

func (r *run) ended(why string) api.ReconcileResult {
	r.phase(api.PhaseEnded)
	r.note("Ended", why)
	return api.ReconcileResult{Verdict: api.VerdictNothing, Message: why}
}
