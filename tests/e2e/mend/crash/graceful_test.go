package crash

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
)

func TestGracefulStopDuringARepair(t *testing.T) {
	const channel = "rolling"
	f := newFlock(t, "graceful", channel)
	gate := openGate(t, f.replica)
	f.announce(t, channel, gate.Port(), time.Second, channel)
	first := ready(t)
	held := gate.Hold("START SLAVE")
	f.publish(t, channel, f.rotate(t))
	select {
	case <-held:
	case <-time.After(patience):
		t.Fatal("no START")
	}
	f.channel(t, channel, stopped)
	asked := time.Now()
	first.Terminate()
	time.Sleep(2 * time.Second)
	gate.Release()
	select {
	case <-first.Done():
	case <-time.After(25*time.Second - time.Since(asked)):
		t.Fatal("SIGTERM was not obeyed")
	}
	t.Logf("gone %s after SIGTERM", time.Since(asked).Round(time.Millisecond))
	require.NoError(t, first.Stop(), "it ended in order")
	f.channel(t, channel, started)
	ready(t)
	f.channel(t, channel, replicates)
	f.becomes(t, channel, channel, api.ReasonReplicating)
	var result api.MendResult
	require.NoError(t, on.Workflows.GetWorkflow(t.Context(), f.workflow(channel, channel), "").Get(within(t, patience), &result))
	require.Equal(t, api.OutcomeRepaired, result.Outcome)
	f.rowsArrive(t)
	assertStarted(t, f.changes(t))
}
