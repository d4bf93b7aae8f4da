package crash

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/tests/stage"
)

func TestKilledBetweenStopAndChange(t *testing.T) { cutAt(t, "cut-change", "CHANGE MASTER") }

func TestKilledBetweenChangeAndStart(t *testing.T) { cutAt(t, "cut-start", "START SLAVE") }

// cutAt cuts four repairs at the same statement, each in its own way: none may
// leave its channel stopped.
func cutAt(t *testing.T, name, statement string) {
	t.Helper()
	const killed, terminated, cancelled, mismatch = "killed", "terminated", "cancelled", "mismatch"
	f := newFlock(t, name, killed, terminated, cancelled, mismatch)
	gates := map[string]*stage.Gate{}
	for _, c := range f.channels {
		gates[c] = openGate(t, f.replica)
		f.announce(t, c, gates[c].Port(), time.Second, c)
	}
	first := ready(t)
	held := map[string]<-chan struct{}{}
	for _, c := range f.channels {
		held[c] = gates[c].Hold(statement)
	}
	password := f.rotate(t)
	for _, c := range f.channels {
		f.publish(t, c, password)
	}
	for c, h := range held {
		select {
		case <-h:
		case <-time.After(patience):
			t.Fatalf("no %s for %s", statement, c)
		}
		f.channel(t, c, stopped)
	}

	// Cancelled while the worker lives: what was begun is ended, or undone.
	ctx := within(t, 2*patience)
	require.NoError(t, on.Workflows.CancelWorkflow(ctx, f.workflow(cancelled, cancelled), ""))
	time.Sleep(time.Second)
	gates[cancelled].Release()
	f.channel(t, cancelled, started)
	end := on.Workflows.GetWorkflow(ctx, f.workflow(cancelled, cancelled), "").Get(ctx, nil)
	t.Logf("the cancelled run ended: %v", end)

	first.Kill()
	require.NoError(t, on.Workflows.TerminateWorkflow(ctx, f.workflow(terminated, terminated), "", "by the test"))
	f.publish(t, mismatch, "wrong")
	for _, c := range []string{killed, terminated, mismatch} {
		gates[c].Release()
		f.channel(t, c, stopped)
	}
	began := time.Now()
	ready(t)
	for _, c := range []string{killed, terminated, cancelled} {
		f.channel(t, c, replicates)
		t.Logf("%s replicates %s after the start", c, time.Since(began).Round(time.Millisecond))
	}
	// A Secret that has become wrong is no reason to leave it stopped.
	f.channel(t, mismatch, started)
	t.Logf("%s is started %s after the start", mismatch, time.Since(began).Round(time.Millisecond))
	if statement == "CHANGE MASTER" {
		f.becomes(t, mismatch, mismatch, api.SecretMismatch)
		f.publish(t, mismatch, password)
	} // else it has the right password already
	f.channel(t, mismatch, replicates)
	for _, c := range f.channels {
		f.becomes(t, c, c, api.ReasonReplicating)
	}
	f.rowsArrive(t)
	assertStarted(t, f.changes(t))
}
