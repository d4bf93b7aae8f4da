package activities

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
	"github.com/seedmend/seedmend/k8s"
)

func run[Out any](t *testing.T, step, in any) (out Out, err error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(step)
	value, err := env.ExecuteActivity(step, in)
	if err == nil {
		require.NoError(t, value.Get(&out))
	}
	return out, err
}

// reason is the one that a step failed with, before it is typed for Temporal.
func reason(err error) string {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return app.Message()
	}
	return fmt.Sprint(err)
}

func TestAdmitRefusesBeforeAnythingIsContacted(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*world, *api.Request)
		says   string
		reads  int // Secrets read
	}{
		"a type that is not served":    {func(_ *world, r *api.Request) { r.Type = "mongodb" }, `type "mongodb" is not served`, 0},
		"a spec that contradicts":      {func(_ *world, r *api.Request) { r.Invalid = "both are set" }, "both are set", 0},
		"a seed in another namespace":  {func(_ *world, r *api.Request) { r.Seed.Namespace = "rival" }, `in namespace "rival"`, 0},
		"no seed":                      {func(_ *world, r *api.Request) { r.Seed = nil }, "spec.seed is not set", 0},
		"no provider, also not live":   {func(w *world, _ *api.Request) { w.cached, w.asked = nil, nil }, "no enabled connection", 1},
		"two connections for the host": {func(w *world, _ *api.Request) { w.cached = append(w.cached, connection) }, "2 connections", 1},
		"a seed without its password":  {func(w *world, _ *api.Request) { delete(w.secrets["shop/seed"].Data, "password") }, `"password" is missing`, 1},
		"a provider that is gone, kept": {func(w *world, r *api.Request) {
			r.Seed = nil
			w.held = k8s.OutputSecret{Username: "u", Password: "p", Database: "d"}
			r.Observed = &api.ConnectionRef{Provider: "gone"}
		}, "no enabled connection", 0},
	} {
		t.Run(name, func(t *testing.T) {
			w, r := newWorld(), request
			seed := *request.Seed
			r.Seed = &seed
			c.change(w, &r)
			_, err := run[api.Admission](t, w.seeder().Admit, api.AdmitInput{Request: r})
			require.Error(t, err)
			assert.Contains(t, reason(err), c.says)
			assert.Equal(t, c.reads, w.reads)
			assert.Zero(t, w.contacts)
		})
	}
}

func TestAProviderThatTheCacheLacksIsAskedFor(t *testing.T) {
	w := newWorld()
	w.cached = nil
	adm, err := run[api.Admission](t, w.seeder().Admit, api.AdmitInput{Request: request})
	require.NoError(t, err)
	assert.Equal(t, "c", adm.Target.Connection.Connection)
	assert.Equal(t, 1, w.liveAsks)
}

func TestASeedThatIsNotThereYetIsPending(t *testing.T) {
	w := newWorld()
	delete(w.secrets, "shop/seed")
	adm, err := run[api.Admission](t, w.seeder().Admit, api.AdmitInput{Request: request})
	require.NoError(t, err)
	assert.True(t, adm.SeedPending)
}

func TestAUsedUpSeedIsReplacedByTheOutputSecret(t *testing.T) {
	w := newWorld()
	delete(w.secrets, "shop/seed")
	w.held = k8s.OutputSecret{Username: "u", Password: "p", Database: "d"}
	r := request
	r.Observed = &connection.ConnectionRef
	adm, err := run[api.Admission](t, w.seeder().Admit, api.AdmitInput{Request: r})
	require.NoError(t, err)
	assert.True(t, adm.Target.Source.Output)
	assert.Equal(t, "d", adm.Target.Database)
}

// A workflow task that is lost after the last step runs every step again, with
// a request that knows nothing of the status written meanwhile.
func TestARunRepeatedAfterItsLastStepFindsItsConnectionInTheLiveStatus(t *testing.T) {
	w := newWorld()
	delete(w.secrets, "shop/seed")
	w.held = k8s.OutputSecret{Username: "u", Password: "p", Database: "d"}
	w.live = request
	w.live.Observed = &connection.ConnectionRef
	adm, err := run[api.Admission](t, w.seeder().Admit, api.AdmitInput{Request: request})
	require.NoError(t, err)
	assert.False(t, adm.SeedPending)
	assert.True(t, adm.Target.Source.Output)

	w.live.UID = "another"
	adm, err = run[api.Admission](t, w.seeder().Admit, api.AdmitInput{Request: request})
	require.NoError(t, err)
	assert.True(t, adm.SeedPending)
}

func TestARecheckEndsWhereNothingIsLeftToDo(t *testing.T) {
	for name, change := range map[string]func(*world){
		"settled": func(w *world) { w.live, w.terminal = request, true },
		"gone":    func(w *world) { w.liveErr = k8s.ErrGone },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			change(w)
			adm, err := run[api.Admission](t, w.seeder().Admit, api.AdmitInput{Request: request, Recheck: true})
			require.NoError(t, err)
			assert.NotEmpty(t, adm.Ended)
			assert.Zero(t, w.reads)
		})
	}
}

func TestOneReadOfTheSeedServesTheStepsOfARun(t *testing.T) {
	w := newWorld()
	s := w.seeder()
	adm, err := run[api.Admission](t, s.Admit, api.AdmitInput{Request: request})
	require.NoError(t, err)
	in := api.StepInput{Request: request, Target: adm.Target}
	_, err = run[api.Published](t, s.Publish, api.PublishInput{StepInput: in})
	require.NoError(t, err)
	assert.Equal(t, 1, w.reads)
	assert.Equal(t, []database.Seed{{Credentials: database.Credentials{Username: "user", Password: "secret-word"}, Database: "db"}}, w.logins,
		"the login is with what the API server answered")

	// Another worker has no such memory, and finds the seed edited.
	w.secrets["shop/seed"].ResourceVersion = "8"
	_, err = run[api.Facts](t, w.seeder().Probe, in)
	require.Error(t, err)
	assert.Contains(t, reason(err), "changed while the run was under way")
}

func TestASoftFailureOfARegularActivityIsToldInTheStatus(t *testing.T) {
	w := newWorld()
	w.probeErr = api.Failf(api.ServerUnreachable, "connection refused")
	s := w.seeder()
	adm, err := run[api.Admission](t, s.Admit, api.AdmitInput{Request: request})
	require.NoError(t, err)
	_, err = run[api.Facts](t, s.Probe, api.StepInput{Request: request, Target: adm.Target})
	require.Error(t, err)
	require.Len(t, w.statuses, 1)
	ready := w.statuses[0].Conditions[0]
	assert.Equal(t, "Retrying", ready.Reason)
	assert.Contains(t, ready.Message, "attempt 1: ServerUnreachable: connection refused")
	assert.Equal(t, "False", w.statuses[0].Conditions[1].Status)
}

func TestAHardFailureIsLeftToTheWorkflowToTell(t *testing.T) {
	w := newWorld()
	delete(w.secrets, "lagoon/admin")
	s := w.seeder()
	adm, err := run[api.Admission](t, s.Admit, api.AdmitInput{Request: request})
	require.NoError(t, err)
	_, err = run[api.Facts](t, s.Probe, api.StepInput{Request: request, Target: adm.Target})
	require.Error(t, err)
	assert.Contains(t, reason(err), "password Secret")
	assert.Empty(t, w.statuses)
}

func TestTheSeedIsDeletedLastAndOnlyIfItIsTheOneThatWasRead(t *testing.T) {
	target := api.Target{Connection: connection, Source: api.Source{SecretRef: *request.Seed, UID: "uid", Version: "7"}, Database: "db", Username: "user"}
	for name, c := range map[string]struct {
		change  func(*world, *api.Target)
		deleted int
		note    string
	}{
		"used up":          {func(*world, *api.Target) {}, 1, "deleted"},
		"kept by wish":     {func(_ *world, t *api.Target) { t.Source.KeepSeed = true }, 0, "annotation"},
		"edited meanwhile": {func(w *world, _ *api.Target) { w.deleteErr = k8s.ErrChanged }, 1, "edited"},
		"used up before":   {func(_ *world, t *api.Target) { t.Source.Output = true }, 0, "before"},
		"status not to be": {func(w *world, _ *api.Target) { w.statusErr = k8s.ErrGone }, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, target := newWorld(), target
			c.change(w, &target)
			done, err := run[api.Done](t, w.seeder().Finish, api.FinishInput{StepInput: api.StepInput{Request: request, Target: target}, Reason: api.ReasonAdopted})
			require.NoError(t, err)
			assert.Len(t, w.deleted, c.deleted)
			assert.Contains(t, done.Note, c.note)
		})
	}
}

func TestAFailureIsReportedInConditionsAndEvent(t *testing.T) {
	w := newWorld()
	_, err := run[api.Done](t, w.seeder().Report, api.ReportInput{Request: request, Reason: api.DatabaseMissing, Message: "gone", Failed: true})
	require.NoError(t, err)
	require.Len(t, w.statuses, 1)
	for i, want := range []string{"False", "True"} {
		c := w.statuses[0].Conditions[i]
		assert.Equal(t, want, c.Status)
		assert.Equal(t, "DatabaseMissing", c.Reason)
		assert.Equal(t, int64(2), c.ObservedGeneration)
	}
	assert.Equal(t, []string{"DatabaseMissing"}, w.told)
}

func TestRetryingSaysAttemptCauseAndNextTry(t *testing.T) {
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	f := api.Failf(api.ServerBusy, "too many connections")
	assert.Equal(t, "attempt 1: ServerBusy: too many connections; next try at 2030-01-01T12:00:01Z", retrying(1, f, now))
	assert.Equal(t, "attempt 3: ServerBusy: too many connections; next try at 2030-01-01T12:00:04Z", retrying(3, f, now))
	assert.Equal(t, "attempt 5000: ServerBusy: too many connections; next try at 2030-01-01T12:00:30Z", retrying(5000, f, now))
}

func TestTheLogHasOneLineARequestAMinute(t *testing.T) {
	q := newQuiet(time.Minute)
	now := time.Now()
	assert.True(t, q.may("a", now))
	assert.False(t, q.may("a", now.Add(59*time.Second)))
	assert.True(t, q.may("b", now))
	assert.True(t, q.may("a", now.Add(time.Minute)))
	q.forget("a")
	assert.True(t, q.may("a", now.Add(time.Minute)))
}

func TestAHandoffEndsInTime(t *testing.T) {
	h := newHandoff(time.Second)
	now := time.Now()
	src := api.Source{SecretRef: api.SecretRef{Namespace: "a", Name: "b"}, UID: "1", Version: "1"}
	h.put(src, database.Seed{Database: "d"}, now)
	_, ok := h.get(src, now.Add(time.Second))
	assert.True(t, ok)
	_, ok = h.get(src, now.Add(2*time.Second))
	assert.False(t, ok)
	other := src
	other.Version = "2"
	_, ok = h.get(other, now)
	assert.False(t, ok, "an edited seed is another seed")
	h.drop(src)
	_, ok = h.get(src, now)
	assert.False(t, ok)
}
