package workflows_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/seedmend/seedmend/api"
)

func TestAnExistingDatabaseIsAdopted(t *testing.T) {
	s := &script{adopt: func(_ int, in api.AdoptInput) error {
		assert.Equal(t, "%", in.AccountHost)
		return nil
	}, finish: func(_ int, in api.FinishInput) (api.Done, error) {
		assert.Equal(t, api.ReasonAdopted, in.Reason)
		return api.Done{}, nil
	}}
	out := play(t, s, api.ReconcileInput{Request: request})
	require.NoError(t, out.err)
	assert.Equal(t, api.VerdictAdopt, out.result.Verdict)
	assert.Equal(t, []string{"Admit", "Probe", "Adopt", "Publish", "Finish"}, s.calls)
}

func TestWhatDoesNotExistIsCreated(t *testing.T) {
	s := &script{probe: func(int) (api.Facts, error) { return creatable, nil }}
	out := play(t, s, api.ReconcileInput{Request: request, SearchAttributes: true})
	require.NoError(t, out.err)
	assert.Equal(t, api.VerdictCreate, out.result.Verdict)
	assert.Equal(t, []string{"Admit", "Probe", "Create", "Publish", "Finish"}, s.calls)
}

func TestADatabaseOfOursIsOnlyVerified(t *testing.T) {
	facts := adoptable
	facts.Claim = &api.Claim{Owner: api.Owner{UID: "uid-1", Namespace: "shop", Name: "mariadb", Cluster: "c"}, Origin: api.OriginCreated, Phase: api.ClaimReady}
	s := &script{probe: func(int) (api.Facts, error) { return facts, nil }, finish: func(_ int, in api.FinishInput) (api.Done, error) {
		assert.Equal(t, api.ReasonCreated, in.Reason)
		return api.Done{}, nil
	}}
	out := play(t, s, api.ReconcileInput{Request: request})
	require.NoError(t, out.err)
	assert.Equal(t, []string{"Admit", "Probe", "Publish", "Finish"}, s.calls)
}

func TestAHardFailureIsOneAttemptAndOneStatusAtEveryStep(t *testing.T) {
	hard := api.Failf(api.SeedInvalid, "key is missing").ForOperator("for operators")
	wrapped := fmt.Errorf("outer: %w", fmt.Errorf("inner: %w", hard)) // F50
	for name, s := range map[string]*script{
		"Admit":   {admit: func(int, api.AdmitInput) (api.Admission, error) { return api.Admission{}, wrapped }},
		"Probe":   {probe: func(int) (api.Facts, error) { return api.Facts{}, wrapped }},
		"Adopt":   {adopt: func(int, api.AdoptInput) error { return wrapped }},
		"Create":  {probe: func(int) (api.Facts, error) { return creatable, nil }, create: func(int) error { return wrapped }},
		"Publish": {publish: func(int) error { return wrapped }},
		"Finish":  {finish: func(int, api.FinishInput) (api.Done, error) { return api.Done{}, wrapped }},
	} {
		t.Run(name, func(t *testing.T) {
			out := play(t, s, api.ReconcileInput{Request: request, SearchAttributes: true})
			assertFailed(t, out.err, api.SeedInvalid)
			assert.Equal(t, 1, s.counts[name], "attempts")
			require.Len(t, s.reports, 1)
			assert.Equal(t, api.SeedInvalid, s.reports[0].Reason)
			assert.True(t, s.reports[0].Failed)
			assert.NotContains(t, s.reports[0].Message, "operators", "the tenant's message keeps the operator's part out")
		})
	}
}

func assertFailed(t *testing.T, err error, reason api.Reason) {
	t.Helper()
	var wf *temporal.WorkflowExecutionError
	require.ErrorAs(t, err, &wf)
	app, ok := errors.AsType[*temporal.ApplicationError](wf.Unwrap())
	require.True(t, ok, "the top level carries the type, got %T", wf.Unwrap())
	assert.Equal(t, string(reason), app.Type())
	assert.True(t, app.NonRetryable())
}

func TestAParentSeesTheReasonOfAHardFailure(t *testing.T) {
	s := &script{probe: func(int) (api.Facts, error) { return api.Facts{}, api.Failf(api.HostBlocked, "blocked") }}
	parent := func(ctx workflow.Context) error {
		err := workflow.ExecuteChildWorkflow(ctx, api.WorkflowReconcileDatabase, api.ReconcileInput{Request: request}).Get(ctx, nil)
		return fmt.Errorf("parent: %w", err)
	}
	env := environment(s)
	env.RegisterWorkflow(parent)
	env.ExecuteWorkflow(parent)
	assertFailed(t, env.GetWorkflowError(), api.HostBlocked)
	assert.Equal(t, 1, s.counts["Probe"])
}

func TestASoftFailureGoesOnAsARegularActivity(t *testing.T) {
	s := &script{probe: func(n int) (api.Facts, error) { return adoptable, softly(n, 5, api.ServerUnreachable) }}
	out := play(t, s, api.ReconcileInput{Request: request})
	require.NoError(t, out.err)
	assert.Equal(t, []string{"Admit", "Probe", "Probe", "Probe*", "Probe*", "Probe*", "Probe*", "Adopt", "Publish", "Finish"}, s.calls)
	assert.Empty(t, s.reports, "a soft failure is told by the activity, not by another step")
}

func TestTheDeadlineEndsSoftFailuresAsProviderUnreachable(t *testing.T) {
	s := &script{probe: func(int) (api.Facts, error) { return api.Facts{}, api.Failf(api.ServerBusy, "too many connections") }}
	// The test environment gives up an activity after ten tries of its own
	// accord, which the patient policy makes in four minutes.
	out := play(t, s, api.ReconcileInput{Request: request, Tuning: api.Tuning{Deadline: 3 * time.Minute}})
	assertFailed(t, out.err, api.ProviderUnreachable)
	assert.GreaterOrEqual(t, out.elapsed, 2*time.Minute)
	assert.LessOrEqual(t, out.elapsed, 3*time.Minute+15*time.Second)
	require.Len(t, s.reports, 1)
	assert.Contains(t, s.reports[0].Message, "ServerBusy: too many connections")
}

func TestALastLookSavesARequestWhoseDeadlinePassedWithoutAWorker(t *testing.T) {
	n := 0
	s := &script{}
	s.probe = func(int) (api.Facts, error) {
		n++
		s.mu.Lock()
		last := s.calls[len(s.calls)-1]
		s.mu.Unlock()
		if n > 2 && last == "Probe" { // the local try after the regular ones
			return adoptable, nil
		}
		return api.Facts{}, api.Failf(api.ServerUnreachable, "no answer")
	}
	out := play(t, s, api.ReconcileInput{Request: request})
	require.NoError(t, out.err)
	assert.Equal(t, api.VerdictAdopt, out.result.Verdict)
}

func TestASeedThatIsLateIsWaitedForAndToldOnce(t *testing.T) {
	s := &script{admit: func(n int, _ api.AdmitInput) (api.Admission, error) {
		if n < 6 {
			return api.Admission{SeedPending: true}, nil
		}
		return api.Admission{Target: target}, nil
	}}
	out := play(t, s, api.ReconcileInput{Request: request})
	require.NoError(t, out.err)
	require.Len(t, s.reports, 1)
	assert.Equal(t, api.ReasonWaitingForSeed, s.reports[0].Reason)
	assert.False(t, s.reports[0].Failed)
}

func TestASeedThatNeverComesIsNotFoundAfterTheWait(t *testing.T) {
	s := &script{admit: func(int, api.AdmitInput) (api.Admission, error) { return api.Admission{SeedPending: true}, nil }}
	out := play(t, s, api.ReconcileInput{Request: request})
	assertFailed(t, out.err, api.SeedSecretNotFound)
	assert.InDelta(t, 30, out.elapsed.Seconds(), 1)
	assert.Zero(t, s.counts["Probe"])
}

func TestANewerGenerationCutsTheWaitForTheSeedShort(t *testing.T) {
	newer := request
	newer.Generation = 2
	s := &script{admit: func(_ int, in api.AdmitInput) (api.Admission, error) {
		if in.Request.Generation == 1 {
			return api.Admission{SeedPending: true}, nil
		}
		return api.Admission{Target: target}, nil
	}}
	out := play(t, s, api.ReconcileInput{Request: request}, signalAfter(10*time.Second, api.ReconcileSignal{Request: newer}))
	require.NoError(t, out.err)
	assert.InDelta(t, 10, out.elapsed.Seconds(), 1)
}

func TestASignalCutsALongBackoffShort(t *testing.T) {
	for name, signal := range map[string]api.ReconcileSignal{
		"manual retry":     {Request: request, Manual: true},
		"newer generation": {Request: func() api.Request { r := request; r.Generation = 7; return r }()},
		"re-created":       {Request: func() api.Request { r := request; r.UID = "uid-2"; return r }()},
	} {
		t.Run(name, func(t *testing.T) {
			healed := false
			s := &script{probe: func(int) (api.Facts, error) {
				if healed {
					return adoptable, nil
				}
				return api.Facts{}, api.Failf(api.ServerUnreachable, "no answer")
			}}
			out := play(t, s, api.ReconcileInput{Request: request}, func(env *testsuite.TestWorkflowEnvironment) {
				env.RegisterDelayedCallback(func() {
					healed = true
					env.SignalWorkflow(api.SignalReconcile, signal)
				}, 100*time.Second)
			})
			require.NoError(t, out.err)
			assert.InDelta(t, 100, out.elapsed.Seconds(), 2)
			assert.Equal(t, 2, s.counts["Admit"], "the pass starts over from its first step")
		})
	}
}

func TestADoubleOfTheSameGenerationChangesNothing(t *testing.T) {
	s := &script{probe: func(n int) (api.Facts, error) { return adoptable, softly(n, 4, api.ServerUnreachable) }}
	out := play(t, s, api.ReconcileInput{Request: request}, signalAfter(time.Second, api.ReconcileSignal{Request: request}))
	require.NoError(t, out.err)
	assert.Equal(t, 1, s.counts["Admit"])
}

func TestADeletedRequestEndsQuietly(t *testing.T) {
	s := &script{probe: func(int) (api.Facts, error) { return api.Facts{}, api.Failf(api.ServerUnreachable, "no answer") }}
	out := play(t, s, api.ReconcileInput{Request: request}, signalAfter(time.Minute, api.ReconcileSignal{Request: request, Deleted: true}))
	require.NoError(t, out.err)
	assert.Equal(t, api.VerdictNothing, out.result.Verdict)
	assert.Empty(t, s.reports)
}

func TestTheDeletionOfAFormerObjectIsIgnored(t *testing.T) {
	former := request
	former.UID = "uid-0"
	s := &script{probe: func(n int) (api.Facts, error) { return adoptable, softly(n, 6, api.ServerUnreachable) }}
	out := play(t, s, api.ReconcileInput{Request: request}, signalAfter(time.Second, api.ReconcileSignal{Request: former, Deleted: true}))
	require.NoError(t, out.err)
	assert.Equal(t, api.VerdictAdopt, out.result.Verdict)
}

func TestAGenerationThatArrivesDuringAFailingPassIsServedByTheSameRun(t *testing.T) {
	newer := request
	newer.Generation = 2
	s := &script{admit: func(_ int, in api.AdmitInput) (api.Admission, error) {
		if in.Request.Generation == 1 {
			return api.Admission{}, api.Failf(api.ProviderNotMatched, "none")
		}
		return api.Admission{Target: target}, nil
	}}
	out := play(t, s, api.ReconcileInput{Request: request}, signalAfter(0, api.ReconcileSignal{Request: newer}))
	require.NoError(t, out.err)
	assert.Equal(t, api.VerdictAdopt, out.result.Verdict)
}

func TestASeedEditedInMidRunStartsThePassOver(t *testing.T) {
	s := &script{adopt: func(n int, _ api.AdoptInput) error {
		if n == 1 {
			return api.Failf(api.SeedChanged, "changed")
		}
		return nil
	}}
	out := play(t, s, api.ReconcileInput{Request: request})
	require.NoError(t, out.err)
	assert.Equal(t, []string{"Admit", "Probe", "Adopt", "Admit", "Probe", "Adopt", "Publish", "Finish"}, s.calls)
}

func TestASeedThatChangesForEverIsGivenUp(t *testing.T) {
	s := &script{probe: func(int) (api.Facts, error) { return api.Facts{}, api.Failf(api.SeedChanged, "changed") }}
	out := play(t, s, api.ReconcileInput{Request: request})
	assertFailed(t, out.err, api.ProviderUnreachable)
	assert.Equal(t, 6, s.counts["Probe"])
}

func TestARequestThatIsSettledOrGoneNeedsNothing(t *testing.T) {
	s := &script{admit: func(_ int, in api.AdmitInput) (api.Admission, error) {
		assert.True(t, in.Recheck)
		return api.Admission{Ended: "settled already"}, nil
	}}
	out := play(t, s, api.ReconcileInput{Request: request, Recheck: true})
	require.NoError(t, out.err)
	assert.Equal(t, api.VerdictNothing, out.result.Verdict)
	assert.Equal(t, []string{"Admit"}, s.calls)
}

func TestARecheckGoesOnWithTheLiveObject(t *testing.T) {
	live := request
	live.Generation = 3
	s := &script{admit: func(int, api.AdmitInput) (api.Admission, error) {
		return api.Admission{Request: &live, Target: target}, nil
	}, probe: func(int) (api.Facts, error) { return api.Facts{Auth: api.LoginOK}, nil }}
	out := play(t, s, api.ReconcileInput{Request: request, Recheck: true})
	assertFailed(t, out.err, api.DatabaseMissing)
	assert.Equal(t, int64(3), s.reports[0].Request.Generation)
}

func TestAnObjectThatVanishesBeforeItsStatusEndsQuietly(t *testing.T) {
	s := &script{finish: func(int, api.FinishInput) (api.Done, error) { return api.Done{Gone: true}, nil }}
	out := play(t, s, api.ReconcileInput{Request: request})
	require.NoError(t, out.err)
	assert.Equal(t, api.VerdictNothing, out.result.Verdict)
}

func TestAStatusThatCannotBeWrittenDoesNotHideTheFailure(t *testing.T) {
	s := &script{
		admit: func(int, api.AdmitInput) (api.Admission, error) {
			return api.Admission{}, api.Failf(api.SeedInvalid, "bad")
		},
		report: func(int, api.ReportInput) (api.Done, error) {
			return api.Done{}, api.Failf(api.ClusterAPIError, "down")
		},
	}
	out := play(t, s, api.ReconcileInput{Request: request, Tuning: api.Tuning{Deadline: 5 * time.Minute}})
	assertFailed(t, out.err, api.SeedInvalid)
}

func TestManySignalsContinueAsNewWithTheNewestRequest(t *testing.T) {
	s := &script{}
	env := environment(s)
	generation := int64(1)
	s.finish = func(int, api.FinishInput) (api.Done, error) {
		generation++
		next := request
		next.Generation = generation
		env.SignalWorkflow(api.SignalReconcile, api.ReconcileSignal{Request: next})
		return api.Done{}, nil
	}
	env.ExecuteWorkflow(api.WorkflowReconcileDatabase, api.ReconcileInput{Request: request, Tuning: api.Tuning{Deadline: 7 * time.Minute}})
	var again *workflow.ContinueAsNewError
	require.ErrorAs(t, env.GetWorkflowError(), &again)
	assert.Equal(t, 20, s.counts["Admit"])
	var in api.ReconcileInput
	require.NoError(t, decode(again, &in))
	assert.Equal(t, generation, in.Request.Generation, "the signal of the last task is not lost")
	assert.Equal(t, 7*time.Minute, in.Tuning.Deadline)
}

func TestProgressAnswersWhatWasDone(t *testing.T) {
	s := &script{}
	env := environment(s)
	env.ExecuteWorkflow(api.WorkflowReconcileDatabase, api.ReconcileInput{Request: request})
	value, err := env.QueryWorkflow(api.QueryProgress)
	require.NoError(t, err)
	var p api.Progress
	require.NoError(t, value.Get(&p))
	assert.Equal(t, api.PhaseReady, p.Phase)
	assert.Equal(t, api.VerdictAdopt, p.Verdict)
	assert.Len(t, p.Steps, 6)
}

func signalAfter(d time.Duration, s api.ReconcileSignal) func(*testsuite.TestWorkflowEnvironment) {
	return func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(api.SignalReconcile, s) }, d)
	}
}
