package workflows

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/seedmend/seedmend/api"
)

// listen answers queries, updates and signals.
func (m *mending) listen() error {
	err := workflow.SetQueryHandlerWithOptions(m.ctx, api.QueryProgress, func() (api.MendProgress, error) { return m.progress, nil },
		workflow.QueryHandlerOptions{Description: "Phase, reason and steps of this repair"})
	if err != nil {
		return err
	}
	err = workflow.SetUpdateHandlerWithOptions(m.ctx, api.UpdateWait, m.changeWait, workflow.UpdateHandlerOptions{
		Validator:   m.mayChangeWait,
		Description: "Skip the wait ({\"skip\": true}), or count it with another threshold ({\"threshold\": nanoseconds})",
	})
	if err != nil {
		return err
	}
	workflow.GoNamed(m.ctx, "looks", func(ctx workflow.Context) {
		for {
			var s api.LookSignal
			if !m.looks.Receive(ctx, &s) {
				return
			}
			m.nudged = true
		}
	})
	return nil
}

// drain takes every signal that has arrived: the next run begins with a look,
// which is what they ask for.
func (m *mending) drain() {
	var s api.LookSignal
	for m.looks.ReceiveAsync(&s) {
		m.nudged = true
	}
}

// mayChangeWait is the update's validator.
func (m *mending) mayChangeWait(_ workflow.Context, u api.WaitUpdate) error {
	switch {
	case u.Skip == (u.Threshold != nil):
		return errors.New("set either skip or threshold")
	case u.Threshold != nil && *u.Threshold < 0:
		return errors.New("the threshold cannot be negative")
	case m.progress.Phase == api.PhaseRepairing:
		return errors.New("there is no wait to change: the repair is at work")
	}
	return nil
}

func (m *mending) changeWait(_ workflow.Context, u api.WaitUpdate) (api.WaitAnswer, error) {
	m.nudged = true
	m.phase(api.PhaseStuck)
	if u.Skip {
		m.state.Skip = true
		m.note("Wait", "skipped by a person")
		return api.WaitAnswer{Message: "the wait is skipped"}, nil
	}
	m.state.Threshold = u.Threshold
	m.note("Wait", fmt.Sprintf("changed by a person: threshold %s", *u.Threshold))
	return api.WaitAnswer{Message: fmt.Sprintf("the threshold is now %s", *u.Threshold)}, nil
}

// wait is a durable timer to a time that is known.
func (m *mending) wait(look api.Inspection, move Move) error {
	if m.state.Told != move.Reason {
		tell := m.told(move.Phase, move.Reason, move.Message)
		tell.IOErrno = look.Channel.IOErrno
		m.tell(m.ctx, tell)
	}
	m.phase(move.Phase)
	m.progress.Reason, m.progress.Message = move.Reason, move.Message
	summary := "1045 must last until " + clock(move.Until)
	if move.Phase == api.PhasePaused {
		summary = fmt.Sprintf("%s; next look at %s", move.Reason, clock(move.Until))
	}
	return m.sleepUntil(move.Until, summary)
}

// leave leaves the replica as it is, for a pause that grows.
func (m *mending) leave(look api.Inspection, reason api.Reason, message string) error {
	if m.state.Owed != api.ThreadsNone && m.target.Replica.Name != "" {
		if err := m.resume(); err != nil {
			return err
		}
	}
	if m.state.Reason != reason {
		m.state.Reason, m.state.Pauses = reason, 0
	}
	m.state.Pauses++
	m.state.NotBefore = workflow.Now(m.ctx).Add(pause(m.state, m.target.Threshold))
	if m.state.Told != reason {
		tell := m.told(api.PhasePaused, reason, message)
		if look.Channel != nil {
			tell.IOErrno = look.Channel.IOErrno
		}
		m.tell(m.ctx, tell)
		m.note("Left as it is", string(reason)+": "+message)
	}
	m.progress.Reason, m.progress.Message = reason, message
	m.phase(api.PhasePaused)
	return m.sleepUntil(m.state.NotBefore, fmt.Sprintf("%s; next look at %s", reason, clock(m.state.NotBefore)))
}

func (m *mending) sleepUntil(until time.Time, summary string) error {
	m.progress.Until = until
	m.show()
	defer func() { m.nudged, m.progress.Until = false, time.Time{} }()
	ctx, cancel := workflow.WithCancel(m.ctx)
	defer cancel()
	timer := workflow.NewTimerWithOptions(ctx, until.Sub(workflow.Now(m.ctx)), workflow.TimerOptions{Summary: summary})
	return workflow.Await(m.ctx, func() bool { return m.nudged || timer.IsReady() })
}

// resume starts what we have stopped, and does not give up while the run lasts.
func (m *mending) resume() error {
	ctx, cancel := workflow.NewDisconnectedContext(m.ctx)
	defer cancel()
	in := api.ResumeInput{Target: m.target, Threads: m.state.Owed}
	out, err := mendStep(ctx, api.MendSteps.Resume, in, "Start what was stopped", resuming)
	if err != nil {
		return err
	}
	if out.Held != nil {
		m.note("Resume", "START is owed and would lose events: "+out.Held.Message)
		return nil
	}
	if out.Sent != "" {
		m.note("Resume", out.Sent)
	}
	return m.owe(api.ThreadsNone)
}

// owe keeps what is to be started again where it outlasts this run.
func (m *mending) owe(threads api.Threads) error {
	if m.state.Owed == threads {
		return nil
	}
	m.state.Owed = threads
	return workflow.UpsertMemo(m.ctx, map[string]any{api.MemoOwed: threads})
}

// fail ends a run: with a hard failure, which is told and remembered, or as
// cancelled. What we have stopped is started first.
func (m *mending) fail(err error) error {
	if m.state.Owed != api.ThreadsNone && m.target.Replica.Name != "" {
		if resumeErr := m.resume(); resumeErr != nil {
			m.note("Resume", "the replica may be stopped: "+cause(resumeErr))
		}
	}
	if temporal.IsCanceledError(err) {
		return err
	}
	f, ok := api.FromTemporal(err)
	if !ok || !f.Hard() {
		return err
	}
	m.phase(api.PhaseFailed)
	m.progress.Reason, m.progress.Message = f.Reason, f.Message
	m.note("Verdict", string(f.Reason))
	m.tell(m.ctx, m.told(api.PhaseFailed, f.Reason, f.Message))
	if memoErr := workflow.UpsertMemo(m.ctx, map[string]any{api.MemoVersions: m.state.Versions}); memoErr != nil {
		return memoErr
	}
	return api.ToTemporal(f)
}
