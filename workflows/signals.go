package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/seedmend/seedmend/api"
)

// take in what a signal says. It answers whether the present pass is moot.
func (r *run) handle(s api.ReconcileSignal) bool {
	switch {
	case s.Deleted && s.Request.UID == r.request.UID:
		r.gone = true
	case s.Deleted:
		return false
	case s.Request.Newer(r.request):
		r.request, r.again, r.gone = s.Request, true, false
	case s.Manual:
		r.again = true
	default:
		return false // a double of what is under way
	}
	return true
}

// drain takes every signal that has arrived; none may be lost at the end of a run.
func (r *run) drain() {
	for {
		var s api.ReconcileSignal
		if !r.signals.ReceiveAsync(&s) {
			return
		}
		r.handle(s)
	}
}

// waitFor waits for a future; false says that a signal, or the cancellation of
// the run, came first.
func (r *run) waitFor(f workflow.Future) bool {
	superseded := false
	sel := workflow.NewSelector(r.ctx)
	sel.AddFuture(f, func(workflow.Future) {})
	sel.AddReceive(r.signals, func(c workflow.ReceiveChannel, _ bool) {
		var s api.ReconcileSignal
		c.Receive(r.ctx, &s)
		superseded = r.handle(s)
	})
	for !f.IsReady() && !superseded {
		sel.Select(r.ctx)
	}
	return f.IsReady()
}

// pause is a durable timer that a signal can cut short.
func (r *run) pause(d time.Duration, summary string) error {
	ctx, cancel := workflow.WithCancel(r.ctx)
	defer cancel()
	timer := workflow.NewTimerWithOptions(ctx, d, workflow.TimerOptions{Summary: summary})
	if !r.waitFor(timer) {
		return errSuperseded
	}
	return timer.Get(ctx, nil)
}
