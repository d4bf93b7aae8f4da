package crash

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
)

// Last in the file order: the stage's own servers go.
func TestTemporalAndTheKubernetesAPIAreAwayDuringTheWait(t *testing.T) {
	const channel = "waiting"
	f := newFlock(t, "outage", channel)
	f.announce(t, channel, f.replica.Port, 8*time.Second, channel)
	ready(t)
	for _, c := range []struct {
		name        string
		kill, start func() error
	}{
		{"Temporal", on.Temporal.Kill, func() error { return on.Temporal.Start(within(t, patience)) }},
		{"kube-apiserver", on.Kube.Kill, func() error { return on.Kube.Start(within(t, patience)) }},
	} {
		f.publish(t, channel, f.rotate(t))
		f.refused(t)
		f.becomes(t, channel, channel, api.ReasonThreshold)
		require.NoError(t, c.kill())
		time.Sleep(2 * time.Second)
		require.NoError(t, c.start())
		back := time.Now()
		f.channel(t, channel, replicates)
		t.Logf("%s: replicates %s after it was back", c.name, time.Since(back).Round(time.Millisecond))
		f.becomes(t, channel, channel, api.ReasonReplicating)
	}
	f.rowsArrive(t)
	all := f.changes(t)
	require.Len(t, all, 6, "two repairs: %v", all)
	assertStarted(t, all)
}
