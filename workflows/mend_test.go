package workflows_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/seedmend/seedmend/api"
)

const mockAny = mock.Anything

func look(env *testsuite.TestWorkflowEnvironment) {
	env.SignalWorkflow(api.SignalLook, api.LookSignal{Why: "changed"})
}

func TestAReplicaIsMendedAfterTheThresholdAndNotBefore(t *testing.T) {
	w := newWard()
	out := w.mend(t, api.MendInput{SearchAttributes: true}, after(4*time.Minute+59*time.Second, func(*testsuite.TestWorkflowEnvironment) {
		assert.Zero(t, w.sent(), "before the threshold")
	}))
	require.NoError(t, out.err)
	assert.Equal(t, api.OutcomeRepaired, out.result.Outcome)
	assert.Len(t, out.result.Sent, 3)
	assert.GreaterOrEqual(t, out.elapsed, 5*time.Minute)
	assert.Less(t, out.elapsed, 5*time.Minute+2*time.Second)
	assert.Equal(t, []string{"Inspect", "Tell", "Inspect", "Repair", "Tell"}, w.calls)
	assert.Equal(t, api.ReasonThreshold, w.tells[0].Reason)
	assert.Equal(t, api.ReasonRepaired, w.tells[1].Reason)
	assert.False(t, w.tells[1].Repaired.IsZero())
	assert.Equal(t, "1", w.repairs[0].SecretVersion)
	assert.False(t, w.repairs[0].Owed)
}

func TestTheThresholdCountsFromWhenTheErrorBegan(t *testing.T) {
	for name, c := range map[string]struct {
		known, reported time.Duration // before the start; 0 = not known
		wait            time.Duration
	}{
		"not known: from the first look":                {wait: 5 * time.Minute},
		"the starter saw it two minutes ago":            {known: 2 * time.Minute, wait: 3 * time.Minute},
		"the resource knows it for four minutes":        {reported: 4 * time.Minute, wait: time.Minute},
		"it cleared since and began anew":               {known: 6 * time.Minute, reported: time.Minute, wait: 4 * time.Minute},
		"it has lasted long enough":                     {known: 10 * time.Minute},
		"the resource's clock is ahead of the workers'": {known: 2 * time.Minute, reported: -time.Hour, wait: 3 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWard()
			in := api.MendInput{}
			if c.known != 0 {
				in.Since = w.start.Add(-c.known)
			}
			if c.reported != 0 {
				w.look.Since = w.start.Add(-c.reported)
			}
			out := w.mend(t, in)
			require.NoError(t, out.err)
			assert.Equal(t, 1, w.counts["Repair"])
			assert.InDelta(t, c.wait.Seconds(), out.elapsed.Seconds(), 2)
		})
	}
}

func TestAnErrorThatClearsInTimeSendsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		channel api.Channel
		reason  api.Reason
	}{
		"it replicates again":                 {api.Channel{IO: api.IOYes, SQL: true}, api.ReasonReplicating},
		"it connects, and its SQL stopped":    {api.Channel{IO: api.IOYes, SQLErrno: 1062}, api.SQLThreadStopped},
		"its SQL was stopped by hand":         {api.Channel{IO: api.IOYes}, api.ReplicationStopped},
		"it was stopped by hand":              {api.Channel{IO: api.IONo}, api.ReplicationStopped},
		"another error came (1236)":           {api.Channel{IO: api.IONo, IOErrno: 1236}, api.IOError},
		"another error came (2003)":           {api.Channel{IO: api.IOConnecting, IOErrno: 2003, SQL: true}, api.IOError},
		"it wants another plugin now (2061)":  {api.Channel{IO: api.IOConnecting, IOErrno: 2061, SQL: true}, api.IOError},
		"TLS is demanded of it now (2026)":    {api.Channel{IO: api.IOConnecting, IOErrno: 2026, SQL: true}, api.IOError},
		"its primary's name is not known now": {api.Channel{IO: api.IOConnecting, IOErrno: 2005, SQL: true}, api.IOError},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWard()
			out := w.mend(t, api.MendInput{}, after(time.Minute, func(env *testsuite.TestWorkflowEnvironment) {
				w.change(func(w *ward) { w.look.Channel = &c.channel })
				look(env)
			}))
			require.NoError(t, out.err, "quiet: no failure")
			assert.Equal(t, api.OutcomeNothing, out.result.Outcome)
			assert.Less(t, out.elapsed, 2*time.Minute)
			assert.Zero(t, w.sent()+w.proofs)
			assert.Equal(t, c.reason, w.lastTold().Reason)
			assert.True(t, w.lastTold().Quiet)
		})
	}
}

func TestAnErrorThatClearsUnseenIsSeenAtTheThreshold(t *testing.T) {
	w := newWard()
	out := w.mend(t, api.MendInput{}, after(time.Minute, func(*testsuite.TestWorkflowEnvironment) { w.change((*ward).heal) }))
	require.NoError(t, out.err)
	assert.Equal(t, api.OutcomeNothing, out.result.Outcome)
	assert.Zero(t, w.sent())
}

func TestARunEndsQuietlyWhereItIsNotWantedAnyMore(t *testing.T) {
	for name, c := range map[string]func(w *ward){
		"the opt-in is withdrawn": func(w *ward) { w.look.Off = true },
		"the resource is gone":    func(w *ward) { w.look = api.Inspection{Ended: "the resource does not exist any more"} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWard()
			out := w.mend(t, api.MendInput{}, after(time.Minute, func(env *testsuite.TestWorkflowEnvironment) {
				w.change(c)
				look(env)
			}))
			require.NoError(t, out.err)
			assert.Equal(t, api.OutcomeNothing, out.result.Outcome)
			assert.Zero(t, w.sent())
		})
	}
}

func TestAPersonMendsWithoutWaitAndWithoutOptIn(t *testing.T) {
	w := newWard()
	w.look.Off = true
	out := w.mend(t, api.MendInput{Manual: true})
	require.NoError(t, out.err)
	assert.Equal(t, api.OutcomeRepaired, out.result.Outcome)
	assert.Less(t, out.elapsed, time.Second)
}

func TestAnUpdateSkipsOrChangesTheWait(t *testing.T) {
	minute := time.Minute
	for name, c := range map[string]struct {
		update  api.WaitUpdate
		elapsed time.Duration
	}{
		"skip":              {api.WaitUpdate{Skip: true}, 30 * time.Second},
		"another threshold": {api.WaitUpdate{Threshold: &minute}, minute},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWard()
			answer := &answer{}
			out := w.mend(t, api.MendInput{}, after(30*time.Second, func(env *testsuite.TestWorkflowEnvironment) {
				env.UpdateWorkflow(api.UpdateWait, "u", answer, c.update)
			}))
			require.NoError(t, out.err)
			require.NoError(t, errors.Join(answer.rejected, answer.failed))
			assert.Equal(t, api.OutcomeRepaired, out.result.Outcome)
			assert.InDelta(t, c.elapsed.Seconds(), out.elapsed.Seconds(), 1)
		})
	}
}

func TestAnUpdateDuringTheRepairIsRejected(t *testing.T) {
	w := newWard()
	answer := &answer{}
	out := w.mend(t, api.MendInput{}, func(env *testsuite.TestWorkflowEnvironment) {
		w.during = func(step string, _ int) {
			if step == "Repair" {
				env.UpdateWorkflow(api.UpdateWait, "u", answer, api.WaitUpdate{Skip: true})
			}
		}
	})
	require.NoError(t, out.err)
	require.ErrorContains(t, answer.rejected, "at work")
}

func TestAnUpdateThatMakesNoSenseIsRejected(t *testing.T) {
	negative := -time.Second
	for name, u := range map[string]api.WaitUpdate{
		"neither": {}, "both": {Skip: true, Threshold: new(time.Duration)}, "negative": {Threshold: &negative},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWard()
			answer := &answer{}
			out := w.mend(t, api.MendInput{}, after(30*time.Second, func(env *testsuite.TestWorkflowEnvironment) {
				env.UpdateWorkflow(api.UpdateWait, "u", answer, u)
			}))
			require.NoError(t, out.err)
			require.Error(t, answer.rejected)
			assert.GreaterOrEqual(t, out.elapsed, 5*time.Minute, "the wait is as it was")
		})
	}
}

// answer takes what an update comes to.
type answer struct{ rejected, failed error }

func (a *answer) Accept()                   {}
func (a *answer) Reject(err error)          { a.rejected = err }
func (a *answer) Complete(_ any, err error) { a.failed = err }

func TestAWrongSecretIsNotSentUntilItIsRight(t *testing.T) {
	w := newWard()
	w.mismatch()
	var proofs int
	out := w.mend(t, api.MendInput{}, after(6*time.Hour, func(env *testsuite.TestWorkflowEnvironment) {
		assert.Zero(t, w.sent())
		assert.Equal(t, api.SecretMismatch, w.lastTold().Reason)
		proofs = w.proofs
		look(env) // nothing has changed
	}), after(6*time.Hour+time.Second, func(env *testsuite.TestWorkflowEnvironment) {
		assert.Equal(t, proofs, w.proofs, "the primary is not asked again without a reason")
		w.change(func(w *ward) {
			w.look.Versions.Account = "b"
			w.proof = api.Proof{Trial: api.TrialProven, Versions: api.Versions{Secret: "1", Account: "b"}}
		})
		look(env)
	}))
	require.NoError(t, out.err)
	assert.Equal(t, api.OutcomeRepaired, out.result.Outcome)
	assert.InDelta(t, (6 * time.Hour).Seconds(), out.elapsed.Seconds(), 3, "at once")
	assert.Equal(t, 1, w.counts["Repair"])
	assert.InDelta(t, 30, proofs, 4, "5 min, then pauses of 30 s doubling to 15 min")
	assert.Len(t, w.tells, 3, "threshold, mismatch, repaired: one word each")
}

func TestARepairThatDoesNotHelpCoolsDown(t *testing.T) {
	var at []time.Duration
	w := newWard()
	w.repair = func(n int, _ api.RepairInput) (api.Repair, error) {
		if n < 4 {
			return ended(api.OutcomeRefused, *w.look.Channel), nil
		}
		return w.repaired(), nil
	}
	out := w.mend(t, api.MendInput{}, func(env *testsuite.TestWorkflowEnvironment) {
		w.during = func(step string, _ int) {
			if step == "Repair" {
				at = append(at, env.Now().Sub(w.start).Round(time.Minute))
			}
		}
	})
	require.NoError(t, out.err)
	assert.Equal(t, []time.Duration{5 * time.Minute, 15 * time.Minute, 35 * time.Minute, 75 * time.Minute}, at)
}

func TestWhatARepairComesTo(t *testing.T) {
	for name, c := range map[string]struct {
		outcome api.Outcome
		reason  api.Reason
		ends    bool
	}{
		"connected, and the SQL thread stopped": {api.OutcomeSQLStopped, api.SQLThreadStopped, true},
		"refused":                               {api.OutcomeRefused, api.StillRefused, false},
		"not proven in time":                    {api.OutcomeUnverified, api.NotVerified, false},
		"events would be lost":                  {api.OutcomeUnsafe, api.RelayLogNotApplied, false},
		"it follows another server":             {api.OutcomeMismatch, api.PrimaryMismatch, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWard()
			w.repair = func(n int, _ api.RepairInput) (api.Repair, error) {
				if n == 1 {
					return ended(c.outcome, api.Channel{IO: api.IOYes, SQLErrno: 1062}), nil
				}
				return w.repaired(), nil
			}
			out := w.mend(t, api.MendInput{})
			require.NoError(t, out.err)
			assert.Equal(t, c.reason, w.tells[1].Reason)
			if c.ends {
				assert.Equal(t, "auth fixed, SQL thread stopped (1062)", out.result.Message)
				assert.Equal(t, 1, w.counts["Repair"])
			} else {
				assert.Equal(t, 2, w.counts["Repair"])
			}
		})
	}
}

func TestUnappliedEventsHoldARepair(t *testing.T) {
	w := newWard()
	w.backlog = api.Backlog{Detail: "300 events"}
	out := w.mend(t, api.MendInput{}, after(20*time.Minute, func(*testsuite.TestWorkflowEnvironment) {
		assert.Zero(t, w.sent())
		assert.Equal(t, api.RelayLogNotApplied, w.lastTold().Reason)
		w.change(func(w *ward) { w.backlog = api.Backlog{Applied: true} })
	}))
	require.NoError(t, out.err)
	assert.Equal(t, api.OutcomeRepaired, out.result.Outcome)
	assert.Less(t, out.elapsed, 36*time.Minute)
}

func TestASQLThreadThatIsStartedEndsThePause(t *testing.T) {
	w := newWard()
	w.backlog = api.Backlog{Detail: "300 events"}
	w.look.Channel.SQL = false
	out := w.mend(t, api.MendInput{}, after(time.Hour, func(env *testsuite.TestWorkflowEnvironment) {
		w.change(func(w *ward) {
			w.backlog = api.Backlog{Applied: true}
			w.look.Channel = &api.Channel{IO: api.IOConnecting, SQL: true, IOErrno: api.AuthErrno}
		})
		look(env)
	}))
	require.NoError(t, out.err)
	assert.Equal(t, api.OutcomeRepaired, out.result.Outcome)
	assert.InDelta(t, time.Hour.Seconds(), out.elapsed.Seconds(), 2)
}

func TestADrainIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		drained  api.Drained
		repaired bool
		reason   api.Reason
	}{
		"and all is applied":        {api.Drained{Backlog: api.Backlog{Applied: true}}, true, ""},
		"in vain":                   {api.Drained{Backlog: api.Backlog{Draining: true}}, false, api.RelayLogNotApplied},
		"and the replica goes away": {api.Drained{Trouble: &api.Trouble{Reason: api.ReplicaUnreachable}}, false, api.ReplicaUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWard()
			w.backlog = api.Backlog{Draining: true}
			w.drain = func(n int) (api.Drained, error) {
				if n > 1 {
					return api.Drained{Backlog: api.Backlog{Applied: true}}, nil
				}
				return c.drained, nil
			}
			out := w.mend(t, api.MendInput{})
			require.NoError(t, out.err)
			assert.Equal(t, api.OutcomeRepaired, out.result.Outcome)
			assert.Equal(t, c.repaired, w.counts["Drain"] == 1)
			if c.reason != "" {
				assert.Equal(t, c.reason, w.tells[1].Reason)
			}
		})
	}
}

func TestASwitchOfThePrimaryIsStoodAside(t *testing.T) {
	w := newWard()
	w.look.Trouble = &api.Trouble{Reason: api.PrimarySwitching, Message: "switching"}
	out := w.mend(t, api.MendInput{}, after(10*time.Minute, func(env *testsuite.TestWorkflowEnvironment) {
		assert.Zero(t, w.sent()+w.proofs)
		w.change(func(w *ward) { w.look.Trouble = nil })
		look(env)
	}))
	require.NoError(t, out.err)
	assert.Equal(t, api.OutcomeRepaired, out.result.Outcome)
	assert.InDelta(t, (10 * time.Minute).Seconds(), out.elapsed.Seconds(), 3)
}

func TestASecretThatChangesUnderTheRepairIsProvenAnew(t *testing.T) {
	w := newWard()
	w.repair = func(n int, _ api.RepairInput) (api.Repair, error) {
		if n == 1 {
			w.proof.Versions.Secret, w.look.Versions.Secret = "2", "2"
			return api.Repair{Trouble: &api.Trouble{Reason: api.SecretChanged, Message: "edited"}}, nil
		}
		return w.repaired(), nil
	}
	out := w.mend(t, api.MendInput{})
	require.NoError(t, out.err)
	assert.Equal(t, "2", w.repairs[1].SecretVersion)
	assert.Less(t, out.elapsed, 5*time.Minute+5*time.Second)
}

func TestACancelledRunFinishesWhatItHasBegun(t *testing.T) {
	w := newWard()
	out := w.mend(t, api.MendInput{}, func(env *testsuite.TestWorkflowEnvironment) {
		w.during = func(step string, _ int) {
			if step == "Repair" {
				env.CancelWorkflow()
			}
		}
	})
	require.NoError(t, out.err, "the repair had begun, so it ends")
	assert.Equal(t, api.OutcomeRepaired, out.result.Outcome)
}

func TestACancelledWaitSendsNothing(t *testing.T) {
	w := newWard()
	out := w.mend(t, api.MendInput{}, after(time.Minute, func(env *testsuite.TestWorkflowEnvironment) { env.CancelWorkflow() }))
	require.Error(t, out.err)
	assert.True(t, temporal.IsCanceledError(out.err))
	assert.Zero(t, w.sent())
}

func TestAHardFailureStartsWhatItHasStopped(t *testing.T) {
	w := newWard()
	w.repair = func(int, api.RepairInput) (api.Repair, error) {
		return api.Repair{}, api.Failf(api.StatementRejected, "the server does not understand the statement")
	}
	out := w.mend(t, api.MendInput{})
	require.Error(t, out.err)
	f, ok := api.FromTemporal(out.err)
	require.True(t, ok)
	assert.Equal(t, api.StatementRejected, f.Reason)
	var app *temporal.ApplicationError
	require.ErrorAs(t, out.err, &app)
	assert.True(t, app.NonRetryable())
	assert.Equal(t, 1, w.counts["Repair"], "tried once")
	require.Len(t, w.resumes, 1)
	assert.Equal(t, api.ThreadsAll, w.resumes[0].Threads)
	assert.Equal(t, api.StatementRejected, w.lastTold().Reason)
}

func TestWhatAnEarlierRunHasStoppedIsStarted(t *testing.T) {
	stopped := func(w *ward) { w.look.Channel = &api.Channel{IO: api.IONo, User: "repl"} }
	t.Run("with the Secret, which is right", func(t *testing.T) {
		w := newWard()
		stopped(w)
		out := w.mend(t, api.MendInput{Owed: api.ThreadsAll})
		require.NoError(t, out.err)
		assert.Equal(t, api.OutcomeRepaired, out.result.Outcome)
		assert.True(t, w.repairs[0].Owed)
		assert.Less(t, out.elapsed, time.Second, "no threshold")
	})
	t.Run("as it is, where the Secret is wrong", func(t *testing.T) {
		w := newWard()
		stopped(w)
		w.mismatch()
		out := w.mend(t, api.MendInput{Owed: api.ThreadsIO}, after(time.Minute, func(env *testsuite.TestWorkflowEnvironment) {
			w.change((*ward).heal)
			look(env)
		}))
		require.NoError(t, out.err)
		require.Len(t, w.resumes, 1)
		assert.Equal(t, api.ThreadsIO, w.resumes[0].Threads)
		assert.Zero(t, w.counts["Repair"])
	})
	t.Run("also where repairs are not wanted any more", func(t *testing.T) {
		w := newWard()
		stopped(w)
		w.look.Off = true
		out := w.mend(t, api.MendInput{Owed: api.ThreadsAll})
		require.NoError(t, out.err)
		require.Len(t, w.resumes, 1)
		assert.Zero(t, w.counts["Repair"])
	})
	t.Run("nothing is sent where it runs", func(t *testing.T) {
		w := newWard()
		w.heal()
		out := w.mend(t, api.MendInput{Owed: api.ThreadsAll})
		require.NoError(t, out.err)
		assert.Zero(t, w.sent())
		assert.Contains(t, out.result.Message, "was cut")
	})
}

func TestARepairThatIsCutIsTriedAgainAsOwed(t *testing.T) {
	w := newWard()
	w.repair = func(n int, _ api.RepairInput) (api.Repair, error) {
		if n == 1 {
			return api.Repair{}, errors.New("the worker was killed")
		}
		return w.repaired(), nil
	}
	out := w.mend(t, api.MendInput{})
	require.NoError(t, out.err)
	require.Len(t, w.repairs, 2)
	assert.True(t, w.repairs[1].Owed)
}

// The attempt that was cut may have sent STOP; the next one finds a reason to
// send nothing.
func TestARepairThatWasCutIsOwedWhateverTheNextAttemptFinds(t *testing.T) {
	stopped := api.Channel{IO: api.IONo, IOErrno: api.AuthErrno}
	for name, c := range map[string]struct {
		answer   api.Repair
		mismatch bool
	}{
		"the Secret was edited":              {api.Repair{Trouble: &api.Trouble{Reason: api.SecretChanged, Message: "edited"}}, true},
		"binary logs were purged":            {ended(api.OutcomeUnsafe, stopped), false},
		"it follows another server":          {ended(api.OutcomeMismatch, stopped), false},
		"the Secret was edited, and is fine": {api.Repair{Trouble: &api.Trouble{Reason: api.SecretChanged, Message: "edited"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWard()
			w.repair = func(n int, _ api.RepairInput) (api.Repair, error) {
				if n > 1 {
					return w.repaired(), nil
				}
				w.look.Channel = &api.Channel{IO: api.IONo} // MySQL; MariaDB keeps the error
				if c.mismatch {
					w.mismatch()
				}
				c.answer.Cut = true
				return c.answer, nil
			}
			out := w.mend(t, api.MendInput{}, after(10*time.Minute, func(env *testsuite.TestWorkflowEnvironment) {
				assert.NotEqual(t, api.IONo, w.look.Channel.IO, "started at once")
				w.change(func(w *ward) {
					w.proof = api.Proof{Trial: api.TrialProven, Versions: api.Versions{Secret: "2", Account: "a"}}
				})
				look(env)
			}))
			require.NoError(t, out.err)
			assert.Equal(t, api.OutcomeRepaired, out.result.Outcome)
			require.Greater(t, len(w.repairs), 1)
			if len(w.resumes) == 0 {
				assert.True(t, w.repairs[1].Owed)
			} else {
				assert.Equal(t, api.ThreadsAll, w.resumes[0].Threads)
			}
		})
	}
}

func TestAStepThatNoWorkerEndsIsTriedAgainLater(t *testing.T) {
	for _, step := range []string{"Inspect", "Repair"} {
		t.Run(step, func(t *testing.T) {
			w := newWard()
			broken := true
			w.fails = func(name string) error {
				if name == step && broken {
					return errors.New("the worker was killed")
				}
				return nil
			}
			out := w.mend(t, api.MendInput{}, after(3*time.Hour, func(*testsuite.TestWorkflowEnvironment) { broken = false }))
			require.NoError(t, out.err)
			assert.Equal(t, api.OutcomeRepaired, out.result.Outcome)
			assert.Contains(t, reasons(w.tells), api.StepTimedOut)
			assert.Equal(t, step == "Repair", w.counts["Resume"] > 0, "what may have been stopped is started")
		})
	}
}

func reasons(tells []api.TellInput) (all []api.Reason) {
	for _, in := range tells {
		all = append(all, in.Reason)
	}
	return all
}

// Thirty days of a wrong Secret (F51): each run's history stays small, and what
// it knows goes on to the next.
func TestThirtyDays(t *testing.T) {
	w := newWard()
	w.mismatch()
	in := api.MendInput{}
	var elapsed time.Duration
	runs := 0
	for ; elapsed < 30*24*time.Hour; runs++ {
		before := len(w.calls)
		out := w.mend(t, in, func(env *testsuite.TestWorkflowEnvironment) {
			w.during = func(step string, n int) {
				if step == "Inspect" && n%200 == 0 {
					look(env) // in the very task that continues as new
				}
			}
		})
		var next *workflow.ContinueAsNewError
		require.ErrorAs(t, out.err, &next)
		require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(next.Input, &in))
		require.NotNil(t, in.State)
		assert.Equal(t, api.SecretMismatch, in.State.Reason)
		assert.Equal(t, "0-1-7", in.State.Position)
		assert.False(t, in.State.Since.IsZero())
		// A step costs three events and three of the workflow task; a wait two and three.
		assert.Less(t, (len(w.calls)-before)*6+200*5, 10_000)
		elapsed += out.elapsed
		w.start = w.start.Add(out.elapsed)
	}
	assert.Zero(t, w.sent())
	assert.Greater(t, runs, 3)
	assert.Len(t, w.tells, 2, "threshold and mismatch, once in thirty days")
	w.change(func(w *ward) {
		w.look.Versions.Secret = "2"
		w.proof = api.Proof{Trial: api.TrialProven, Versions: api.Versions{Secret: "2", Account: "a"}}
	})
	out := w.mend(t, in)
	require.NoError(t, out.err)
	assert.Equal(t, api.OutcomeRepaired, out.result.Outcome)
	assert.Less(t, out.elapsed, time.Second)
}

func TestASweepIsOneStep(t *testing.T) {
	w := newWard()
	env := mendEnvironment(w)
	env.ExecuteWorkflow(api.WorkflowSweepReplicas, api.SweepInput{})
	require.NoError(t, env.GetWorkflowError())
	var out api.SweepResult
	require.NoError(t, env.GetWorkflowResult(&out))
	assert.Equal(t, 3, out.Replicas)
	assert.Equal(t, []string{"Sweep"}, w.calls)
}

func TestAnExplanationChangesNothing(t *testing.T) {
	w := newWard()
	explain := func() (out api.ReplicaExplanation) {
		env := mendEnvironment(w)
		env.ExecuteWorkflow(api.WorkflowExplainReplica, api.MendInput{Replica: replica, Manual: true})
		require.NoError(t, env.GetWorkflowError())
		require.NoError(t, env.GetWorkflowResult(&out))
		return out
	}
	out := explain()
	assert.True(t, out.Would)
	assert.False(t, out.Until.IsZero())
	w.backlog = api.Backlog{}
	assert.Equal(t, api.RelayLogNotApplied, explain().Reason)
	w.mismatch()
	assert.Equal(t, api.SecretMismatch, explain().Reason)
	w.heal()
	assert.Equal(t, api.ReasonReplicating, explain().Reason)
	w.look.Trouble = &api.Trouble{Reason: api.ReplicaUnreachable}
	assert.Equal(t, api.ReplicaUnreachable, explain().Reason)
	assert.Zero(t, w.sent()+w.counts["Tell"])
}
