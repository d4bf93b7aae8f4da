package workflows

import (
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/seedmend/seedmend/api"
)

// RepairReplicaAuth gives one replica that is stuck on 1045 the current
// credentials, after the error has lasted the threshold, and proves that it
// replicates. There is one run a replica at a time; a change of the replica, its
// Secret or its resource reaches it as the signal "look".
func RepairReplicaAuth(ctx workflow.Context, in api.MendInput) (api.MendResult, error) {
	m := newMending(ctx, in)
	if err := m.listen(); err != nil {
		return api.MendResult{}, err
	}
	for turns := 1; ; turns++ {
		result, err := m.turn()
		if lasting(err) {
			err = m.leave(api.Inspection{}, api.StepTimedOut, cause(err))
		}
		if err != nil {
			return api.MendResult{}, m.fail(err)
		}
		if result != nil {
			return *result, nil
		}
		if turns >= mostTurns || workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			m.drain()
			in.Owed, in.State = api.ThreadsNone, &m.state
			return api.MendResult{}, workflow.NewContinueAsNewError(ctx, api.WorkflowRepairReplicaAuth, in)
		}
	}
}

// lasting tells whether a step's error is one that time may heal: a worker that
// is away, say. Hard failures and cancellations are not.
func lasting(err error) bool {
	if err == nil || temporal.IsCanceledError(err) {
		return false
	}
	f, ok := api.FromTemporal(err)
	return !ok || !f.Hard()
}

// mending is the state of one run.
type mending struct {
	ctx        workflow.Context
	replica    api.ReplicaRef
	attributes bool
	state      api.MendState
	looks      workflow.ReceiveChannel
	target     api.MendTarget // of the last look; empty before
	due        bool           // the next look is to prove the Secret
	nudged     bool           // look before the wait is over
	progress   api.MendProgress
}

func newMending(ctx workflow.Context, in api.MendInput) *mending {
	m := &mending{
		ctx:        ctx,
		replica:    in.Replica,
		attributes: in.SearchAttributes,
		state:      api.MendState{Since: in.Since, Skip: in.Manual, Manual: in.Manual, Owed: in.Owed},
		looks:      workflow.GetSignalChannel(ctx, api.SignalLook),
		progress:   api.MendProgress{Replica: in.Replica.Key()},
	}
	if in.State != nil {
		m.state = *in.State
	}
	return m
}

// turn looks once, and does what the look calls for. A result ends the run.
func (m *mending) turn() (*api.MendResult, error) {
	look, err := m.inspect()
	if err != nil {
		return nil, err
	}
	now := workflow.Now(m.ctx)
	m.state.Since = since(m.state, look, now)
	switch move := Next(m.state, look, now); move.Kind {
	case MoveEnd:
		return m.end(look, move)
	case MoveResume:
		if err := m.resume(); err != nil || m.state.Owed == api.ThreadsNone {
			return nil, err
		}
		return nil, m.leave(look, api.RelayLogNotApplied, "it has been stopped by a repair that was cut, and START would lose events")
	case MoveWait:
		return nil, m.wait(look, move)
	case MoveLeave:
		return nil, m.leave(look, move.Reason, move.Message)
	default:
		return m.mend(look)
	}
}

// mend repairs, unless the look has found a reason to leave the replica as it is.
func (m *mending) mend(look api.Inspection) (*api.MendResult, error) {
	if m.due = look.Proof == nil; m.due {
		return nil, nil // the next look proves
	}
	m.state.Skip = false
	m.state.Versions, m.state.SQL = look.Versions, look.Channel.SQL
	if t := look.Proof.Refused; t != nil {
		return nil, m.leave(look, t.Reason, t.Message)
	}
	m.note("Prove", string(look.Proof.Trial)+": "+look.Proof.Detail)
	backlog := *look.Backlog
	if !backlog.Safe() && backlog.Draining {
		m.phase(api.PhaseDraining)
		drained, err := mendStep(m.ctx, api.MendSteps.Drain, api.DrainInput{Target: m.target}, "Wait until all that was fetched is applied", draining(m.target.DrainTimeout))
		if err != nil {
			return nil, err
		}
		if t := drained.Trouble; t != nil {
			return nil, m.leave(look, t.Reason, t.Message)
		}
		backlog = drained.Backlog
	}
	if !backlog.Safe() {
		return nil, m.leave(look, api.RelayLogNotApplied, backlog.Detail)
	}
	m.note("Secure", backlog.Detail)
	return m.repair(look, look.Versions.Secret)
}

// repair changes the credentials. It is not cut by a cancellation: START is owed
// from the moment that STOP is sent.
func (m *mending) repair(look api.Inspection, secretVersion string) (*api.MendResult, error) {
	m.phase(api.PhaseRepairing)
	before := m.state.Owed
	threads := before
	if threads == api.ThreadsNone {
		threads = threadsOf(*look.Channel)
	}
	if err := m.owe(threads); err != nil {
		return nil, err
	}
	ctx, cancel := workflow.NewDisconnectedContext(m.ctx)
	defer cancel()
	in := api.RepairInput{Target: m.target, SecretVersion: secretVersion, Owed: before != api.ThreadsNone, Verify: api.VerifyTime}
	done, err := mendStep(ctx, api.MendSteps.Repair, in, "STOP, CHANGE, START, and prove that it replicates", repairing(api.VerifyTime))
	if err != nil {
		return nil, err // what is owed is seen to by fail
	}
	if done.Cut {
		before = threads
	}
	if t := done.Trouble; t != nil && t.Reason == api.SecretChanged {
		return nil, m.owe(before) // this attempt sent nothing; the new Secret is proven at once
	} else if t != nil {
		return nil, m.leave(look, t.Reason, t.Message)
	}
	mending := done.Mending
	if len(mending.Sent) > 0 || mending.Outcome == api.OutcomeRepaired {
		before = api.ThreadsNone
	}
	if err := m.owe(before); err != nil {
		return nil, err
	}
	m.note("Repair", strings.TrimSuffix(fmt.Sprintf("%s; %s", mending.Outcome, mending.Detail), "; "))
	return m.outcome(look, mending)
}

func threadsOf(c api.Channel) api.Threads {
	if c.SQL {
		return api.ThreadsAll
	}
	return api.ThreadsIO
}

// outcome ends the run, or leaves the replica for a cool-down that grows.
func (m *mending) outcome(look api.Inspection, did api.Mending) (*api.MendResult, error) {
	look.Channel = &did.Channel
	switch did.Outcome {
	case api.OutcomeRepaired:
		return m.done(did, api.ReasonRepaired, "the replica has the current credentials and replicates")
	case api.OutcomeSQLStopped:
		return m.done(did, api.SQLThreadStopped, fmt.Sprintf("auth fixed, SQL thread stopped (%d)", did.Channel.SQLErrno))
	case api.OutcomeHealed:
		return nil, nil // the next look says what it is now
	case api.OutcomeUnsafe:
		return nil, m.leave(look, api.RelayLogNotApplied, did.Detail)
	case api.OutcomeMismatch:
		return nil, m.leave(look, api.PrimaryMismatch, did.Detail)
	case api.OutcomeRefused:
		m.state.Failures++
		return nil, m.leave(look, api.StillRefused, did.Detail)
	default:
		m.state.Failures++
		return nil, m.leave(look, api.NotVerified, did.Detail)
	}
}

func (m *mending) done(did api.Mending, reason api.Reason, message string) (*api.MendResult, error) {
	tell := m.told(api.PhaseRepaired, reason, message)
	tell.IOErrno, tell.Since = did.Channel.IOErrno, time.Time{}
	tell.Repaired = workflow.Now(m.ctx)
	if reason == api.SQLThreadStopped {
		tell.Phase = api.PhaseHandsOff
	}
	ctx, cancel := workflow.NewDisconnectedContext(m.ctx)
	defer cancel()
	m.tell(ctx, tell)
	return &api.MendResult{Outcome: did.Outcome, Message: message, Sent: did.Sent}, nil
}

// end is quiet: nothing failed, nobody is called.
func (m *mending) end(look api.Inspection, move Move) (*api.MendResult, error) {
	if err := m.owe(api.ThreadsNone); err != nil {
		return nil, err
	}
	if look.Channel != nil {
		tell := m.told(move.Phase, move.Reason, move.Message)
		tell.IOErrno, tell.Quiet = look.Channel.IOErrno, true
		if !look.Channel.Stuck() {
			tell.Since = time.Time{}
		}
		m.tell(m.ctx, tell)
	}
	m.phase(api.PhaseEnded)
	m.note("Ended", move.Message)
	return &api.MendResult{Outcome: api.OutcomeNothing, Message: move.Message}, nil
}
