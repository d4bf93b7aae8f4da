package workflows

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/seedmend/seedmend/api"
)

// mostTurns bounds the looks of one run before it continues as new: a turn that
// finds nothing new costs some ten events, and one that tells and tries forty.
const mostTurns = 200

// effort is how long a step of mending may take. Steps say in their answer what
// is wrong with the world, so an attempt that fails is one that was cut.
type effort struct {
	once  time.Duration // one attempt
	total time.Duration
}

// beatTimeout is how long a step may be without a sign of life: it gives one
// every 2 s, so that its worker is gone. The replica may be stopped by then.
const beatTimeout = 10 * time.Second

var (
	// short: a few statements, each bounded by 10 s.
	short = effort{30 * time.Second, 5 * time.Minute}
	// resuming: START is owed, so an hour is given before a person has to know.
	resuming = effort{time.Minute, time.Hour}
)

// draining waits for the SQL thread.
func draining(timeout time.Duration) effort {
	return effort{timeout + time.Minute, 3 * (timeout + time.Minute)}
}

// repairing waits for the group's turn and for the proof.
func repairing(verify time.Duration) effort {
	return effort{verify + 2*time.Minute, time.Hour}
}

// cutShort retries attempts that were cut. A worker that restarts is back in
// seconds; ten keep a server that is down from being asked all the time.
func cutShort() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{
		InitialInterval:        time.Second,
		BackoffCoefficient:     2,
		MaximumInterval:        10 * time.Second,
		NonRetryableErrorTypes: api.HardReasons(),
	}
}

// mendMethod is a step of mending by method expression.
type mendMethod[In, Out any] func(api.MendSteps, context.Context, In) (Out, error)

// mendStep runs one regular activity, on the task queue of this workflow.
func mendStep[In, Out any](ctx workflow.Context, m mendMethod[In, Out], in In, summary string, e effort) (out Out, err error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    e.once,
		ScheduleToCloseTimeout: e.total,
		HeartbeatTimeout:       beatTimeout,
		RetryPolicy:            cutShort(),
		Summary:                summary,
	})
	err = workflow.ExecuteActivity(ctx, stepName(m), in).Get(ctx, &out)
	return out, err
}

// inspect looks. The versions are asked for where they can cut a pause short.
func (m *mending) inspect() (api.Inspection, error) {
	in := api.InspectInput{Replica: m.replica, Versions: m.state.Reason != ""}
	summary := "Look at the replica"
	if in.Prove = m.due || m.expected(workflow.Now(m.ctx)); in.Prove {
		summary = "Look at the replica, prove the Secret on the primary, see what is not applied"
		m.phase(api.PhaseProving)
	}
	m.due = false
	look, err := mendStep(m.ctx, api.MendSteps.Inspect, in, summary, short)
	if err != nil {
		return look, err
	}
	if look.Target.Replica.Name != "" {
		m.target = look.Target
	}
	if look.Channel != nil {
		m.state.Position = look.Channel.Received
		m.progress.Position = look.Channel.Received
		m.seen(*look.Channel)
	}
	return look, nil
}

// expected tells whether a look is likely to be followed by a repair.
func (m *mending) expected(now time.Time) bool {
	s := m.state
	if s.Skip || s.Owed != api.ThreadsNone {
		return true
	}
	threshold := m.target.Threshold
	if s.Threshold != nil {
		threshold = *s.Threshold
	}
	return !s.Since.IsZero() && m.target.Replica.Name != "" && !now.Before(s.Since.Add(threshold)) && !now.Before(s.NotBefore)
}

func (m *mending) told(phase string, reason api.Reason, message string) api.TellInput {
	return api.TellInput{Replica: m.replica, Phase: phase, Reason: reason, Message: message, IOErrno: api.AuthErrno, Since: m.state.Since}
}

// tell is a courtesy: where it cannot be written, the repair goes on.
func (m *mending) tell(ctx workflow.Context, in api.TellInput) {
	m.state.Told = in.Reason
	m.progress.Phase, m.progress.Reason, m.progress.Message = in.Phase, in.Reason, in.Message
	if _, err := mendStep(ctx, api.MendSteps.Tell, in, fmt.Sprintf("Status: %s", in.Reason), short); err != nil {
		m.note("Status", "could not be written: "+cause(err))
	}
	m.show()
	m.upsert()
}
