package crash

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
)

// Each step of a repair, and its answer lost on the way to Temporal or not: so
// many repairs, all at once, of one group and on one replica.
func TestKilledAtEveryBoundaryOfARepair(t *testing.T) {
	const group = "db"
	steps := []boundary{
		{step: "Inspect"}, {step: "Tell"}, {step: "Inspect", after: "Tell"},
		{step: "Repair"}, {step: "Tell", after: "Repair"},
	}
	cases := map[string]*boundary{} // by channel
	var channels []string
	for i, s := range steps {
		for _, how := range []string{"lost", "delivered"} {
			b := s
			b.delivered = how == "delivered"
			channel := fmt.Sprintf("%d-%s-%s", i+1, s.step, how)
			cases[channel] = &b
			channels = append(channels, channel)
		}
	}
	f := newFlock(t, "matrix", channels...)
	boundaries := map[string]*boundary{} // by workflow ID
	for channel, b := range cases {
		boundaries[f.workflow(group, channel)] = b
	}
	var s *supervisor
	through := newProxy(t, on.Temporal.Address, boundaries, func() { s.kill() })
	on.TemporalAddress = through.address
	t.Cleanup(func() { on.TemporalAddress = "" })
	f.announce(t, group, f.replica.Port, 3*time.Second, channels...)
	s = supervise(t)
	for _, channel := range channels {
		f.becomes(t, group, channel, api.ReasonReplicating)
	}
	began := time.Now()
	f.publish(t, group, f.rotate(t))
	eventually(t, 2*patience, func() error {
		for _, channel := range channels {
			status, err := f.replica.ReplicaStatus(t.Context(), channel)
			if err != nil {
				return err
			}
			if !replicates(status) {
				return fmt.Errorf("channel %s: IO %s (%s), SQL %s", channel, status["Slave_IO_Running"], status["Last_IO_Errno"], status["Slave_SQL_Running"])
			}
			through.mu.Lock()
			fired := cases[channel].fired
			through.mu.Unlock()
			if fired == 0 {
				return fmt.Errorf("the kill of %s has not come", channel)
			}
		}
		return nil
	})
	t.Logf("all replicate %s after the rotation", time.Since(began).Round(time.Millisecond))
	for _, channel := range channels {
		var result api.MendResult
		require.NoError(t, on.Workflows.GetWorkflow(t.Context(), f.workflow(group, channel), "").Get(within(t, patience), &result), channel)
		f.becomes(t, group, channel, api.ReasonRepaired, api.ReasonReplicating)
		f.channel(t, channel, replicates)
	}
	t.Logf("all runs have ended %s after the rotation", time.Since(began).Round(time.Millisecond))
	for _, channel := range channels {
		assert.Equal(t, 1, cases[channel].fired, channel)
	}
	assert.Equal(t, len(cases), s.killed())
	f.rowsArrive(t)
	all := f.changes(t)
	assertStarted(t, all)
	assertOneAtATime(t, all)
	t.Logf("%d statements for %d channels", len(all), len(channels))
}
