package operator

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	corev1 "k8s.io/api/core/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/tests/operator"
)

// optIn does so where the CRD drops the field.
func optIn(threshold string) map[string]any {
	annotations := map[string]any{api.AnnotationReconnect: "true"}
	if threshold != "" {
		annotations[api.AnnotationThreshold] = threshold
	}
	return annotations
}

// field opts in where the CRD knows it.
func field(threshold string) map[string]any {
	return map[string]any{"reconnectOnAuthError": true, "errorDurationThreshold": threshold}
}

// TestMariaDB begins without the CRD, and goes on with one after the other.
func TestMariaDB(t *testing.T) {
	if unable != nil {
		t.Skip(unable)
	}
	time.Sleep(time.Second) // long since started
	require.NoError(t, operator.Install(within(t, patience), on.Kube.Config, operator.Pruning))
	// F47: seedmend is not restarted for a CRD that comes later.
	t.Run("upstream's CRD, installed after seedmend has started", func(t *testing.T) {
		t.Run("opted in by the annotation", optedInByAnnotation)
		t.Run("the operator would rebuild first", rebuildAhead)
		t.Run("opted in by a field that the CRD drops", droppedField)
		t.Run("the opt-in is withdrawn", withdrawn)
	})
	require.NoError(t, operator.Install(within(t, patience), on.Kube.Config, operator.Permissive))
	t.Run("the fork's CRD", func(t *testing.T) {
		t.Run("opted in by the field", optedInByField)
		t.Run("not opted in", noOptIn)
		t.Run("the primary is being switched", switching)
		t.Run("TLS", overTLS)
		t.Run("the channel has no name", namelessChannel)
	})
	select {
	case <-process.Done():
		t.Fatal("seedmend has ended")
	default:
	}
	t.Run("the sweep finds what the status does not report", unreported)
}

func optedInByAnnotation(t *testing.T) {
	t.Parallel()
	s := newStand(t, "annotation", standOptions{annotations: optIn("4s"), recovery: map[string]any{"enabled": true, "errorDurationThreshold": "10m"}})
	s.rotate(t)
	since := s.reports1045(t, 1)
	s.mended(t, 1)
	at := s.repairedAt(t, 1)
	assert.False(t, at.Before(since.Add(4*time.Second)), "%s is before the threshold, counted from %s", at, since)
	s.assertNotTold(t, api.RebuildAhead)
	s.await(t, 1, 0)
	s.assertOursAlone(t)
}

// The operator rebuilds after ten minutes, and so long seedmend would wait.
func rebuildAhead(t *testing.T) {
	t.Parallel()
	s := newStand(t, "rebuild", standOptions{annotations: optIn(""), recovery: map[string]any{"enabled": true, "errorDurationThreshold": "10m"}})
	s.rotate(t)
	e := s.told(t, 1, corev1.EventTypeWarning, api.RebuildAhead)
	assert.Contains(t, e.Message, api.AnnotationThreshold)
	assert.Contains(t, e.Message, "10m")
	s.assertNothingSent(t)
	// As the event says.
	s.annotate(t, api.AnnotationThreshold, "1s")
	s.mended(t, 1)
}

func droppedField(t *testing.T) {
	t.Parallel()
	notOptedIn(t, newStand(t, "dropped", standOptions{recovery: field("1s")}))
}

func noOptIn(t *testing.T) {
	t.Parallel()
	notOptedIn(t, newStand(t, "optedout", standOptions{recovery: map[string]any{"errorDurationThreshold": "1s"}}))
}

// notOptedIn: until somebody does.
func notOptedIn(t *testing.T, s *stand) {
	t.Helper()
	s.rotate(t)
	s.reports1045(t, 1)
	time.Sleep(4 * time.Second)
	s.assertUntouched(t)
	_, err := s.run(t, 1)
	var none *serviceerror.NotFound
	require.ErrorAs(t, err, &none, "no run was started")
	s.annotate(t, api.AnnotationReconnect, "true")
	s.mended(t, 1)
	s.await(t, 1, 0)
	s.assertOursAlone(t)
}

func withdrawn(t *testing.T) {
	t.Parallel()
	s := newStand(t, "withdrawn", standOptions{annotations: optIn("10m")})
	s.rotate(t)
	s.told(t, 1, corev1.EventTypeWarning, api.ReasonThreshold)
	s.annotate(t, api.AnnotationReconnect, nil)
	result, err := s.result(t, 1)
	require.NoError(t, err, "quiet: no failure")
	assert.Equal(t, api.OutcomeNothing, result.Outcome)
	s.assertNothingSent(t)
	s.assertNotTold(t, api.RepairOff)
	s.assertOursAlone(t)
}

// The error was reported to have lasted for some time: so much earlier is it mended.
func optedInByField(t *testing.T) {
	t.Parallel()
	const threshold, age = 24 * time.Second, 20 * time.Second
	s := newStand(t, "field", standOptions{recovery: field("24s"), age: age})
	s.rotate(t)
	since := s.reports1045(t, 1)
	wrote := time.Now()
	s.told(t, 1, corev1.EventTypeWarning, api.ReasonThreshold)
	s.assertNothingSent(t)
	s.mended(t, 1)
	at := s.repairedAt(t, 1)
	assert.False(t, at.Before(since.Add(threshold)), "%s is before the threshold, counted from %s", at, since)
	assert.True(t, at.Before(since.Add(age+threshold)), "%s: so long after the report, the error's age was not counted", at)
	run, err := s.run(t, 1)
	require.NoError(t, err)
	assert.Less(t, run.WorkflowStartTime.Sub(wrote), 2*time.Second, "at once")
	s.await(t, 1, 0)
	s.assertOursAlone(t)
}

func switching(t *testing.T) {
	t.Parallel()
	s := newStand(t, "switching", standOptions{recovery: field("1s"), switching: true})
	s.rotate(t)
	s.told(t, 1, corev1.EventTypeWarning, api.PrimarySwitching)
	time.Sleep(4 * time.Second)
	s.assertNothingSent(t)
	_, reads, _ := s.sent(t, 0)
	assert.Empty(t, reads, "the primary is left alone altogether")
	s.switched(t, true)
	began := time.Now()
	s.mended(t, 1)
	assert.Less(t, time.Since(began), 10*time.Second, "without the pause")
}

// The certificates are for the pods' names, but for that of the second replica.
func overTLS(t *testing.T) {
	t.Parallel()
	s := newStand(t, "tls", standOptions{replicas: 2, recovery: field("1s"), tls: true})
	s.rotate(t)
	s.mended(t, 1)
	e := s.told(t, 2, corev1.EventTypeWarning, api.ReplicaUnreachable)
	assert.Contains(t, e.Message, "certificate")
	run, err := s.run(t, 2)
	require.NoError(t, err)
	assert.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_RUNNING, run.Status, "certificates are renewed: it looks again")
	came, _, _ := s.sent(t, 2)
	assert.False(t, came, "the password is not sent to a server that cannot prove its name")
}

// Operators of other versions name it otherwise.
func namelessChannel(t *testing.T) {
	t.Parallel()
	s := newStand(t, "nameless", standOptions{recovery: field("1s"), nameless: true})
	s.rotate(t)
	s.mended(t, 1)
}

// The informer hears of nothing, so this takes the safety net.
func unreported(t *testing.T) {
	require.NoError(t, process.Stop())
	require.NoError(t, start(within(t, patience), "--sweep-interval=0", "--mariadb-sweep-interval=2s"))
	s := newStand(t, "unreported", standOptions{recovery: field("2s"), silent: true})
	s.rotate(t)
	s.mended(t, 1)
	assert.True(t, s.repairedAt(t, 1).After(s.broken.Add(2*time.Second)))
	s.assertOursAlone(t)
}
