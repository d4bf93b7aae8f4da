package activities

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

func sweepOnce(t *testing.T, m *Mender, in api.SweepInput) api.SweepResult {
	t.Helper()
	out, err := act(t, m.Sweep, in)
	require.NoError(t, err)
	return out
}

func TestASweepWakesWhatIsNewAndNothingElse(t *testing.T) {
	h, m := newHospital()
	out := sweepOnce(t, m, api.SweepInput{})
	assert.Equal(t, api.SweepResult{Replicas: 1, Stuck: 1, Woken: 1}, out)
	require.Len(t, h.looks, 1)
	assert.WithinDuration(t, time.Now(), h.looks[0].Since, time.Second)
	since := h.statuses[shopDB][0].Since
	require.NotNil(t, since)

	sweepOnce(t, m, api.SweepInput{})
	assert.Len(t, h.looks, 1, "nothing is new")
	assert.Equal(t, since, h.statuses[shopDB][0].Since)

	h.account = "v2"
	sweepOnce(t, m, api.SweepInput{})
	assert.Len(t, h.looks, 2, "the primary's account changed")
	h.versions["replication"] = "2"
	sweepOnce(t, m, api.SweepInput{})
	assert.Len(t, h.looks, 3, "the Secret changed")

	h.channels[replicaA] = []api.Channel{{IO: api.IOYes, SQL: true}}
	sweepOnce(t, m, api.SweepInput{})
	assert.Len(t, h.wakes, 1, "it replicates: the run may end")
	assert.Nil(t, h.statuses[shopDB][0].Since)
	sweepOnce(t, m, api.SweepInput{})
	assert.Len(t, h.wakes, 1)
	assert.Len(t, h.looks, 3)
}

func TestASweepTriesAgainWhatTemporalDidNotTake(t *testing.T) {
	h, m := newHospital()
	h.err = assert.AnError
	assert.Zero(t, sweepOnce(t, m, api.SweepInput{}).Woken)
	h.err = nil
	assert.Equal(t, 1, sweepOnce(t, m, api.SweepInput{}).Woken)
}

func TestAReplicaThatACutRepairHasStoppedIsStarted(t *testing.T) {
	h, m := newHospital()
	h.channels[replicaA] = []api.Channel{{IO: api.IONo}}
	sweepOnce(t, m, api.SweepInput{})
	assert.Empty(t, h.looks, "stopped by hand: hands off")
	h, m = newHospital()
	h.channels[replicaA] = []api.Channel{{IO: api.IONo}}
	h.owed = api.ThreadsAll
	sweepOnce(t, m, api.SweepInput{})
	require.Len(t, h.looks, 1)
	assert.Equal(t, api.ThreadsAll, h.looks[0].Owed)
}

func TestASweepAsksAServerOnce(t *testing.T) {
	h, m := newHospital()
	g := h.groups[shopDB]
	g.Replicas = nil
	h.channels = map[database.Address][]api.Channel{}
	for i := range 50 {
		at := api.Endpoint{Host: fmt.Sprintf("replica-%d", i/10), Port: 3306}
		name := fmt.Sprintf("c%d", i)
		g.Replicas = append(g.Replicas, api.GroupReplica{Name: name, Channel: name, Endpoint: at})
		h.channels[database.Address(at)] = append(h.channels[database.Address(at)], api.Channel{Name: name, IO: api.IOYes, SQL: true})
	}
	h.groups[shopDB] = g
	out := sweepOnce(t, m, api.SweepInput{})
	assert.Equal(t, 50, out.Replicas)
	assert.Len(t, h.asked, 5)
	assert.Empty(t, h.looks)
	for _, e := range h.statuses[shopDB] {
		assert.Equal(t, api.PhaseHealthy, e.Phase)
	}
}

func TestWhichGroupsASweepLooksAt(t *testing.T) {
	ours := api.Group{GroupRef: api.GroupRef{Kind: api.KindReplicationGroup}}
	theirs := api.Group{GroupRef: api.GroupRef{Kind: api.KindMariaDB}, OptedIn: true}
	reporting := theirs
	reporting.Replicas = []api.GroupReplica{{Reported: &api.Reported{IOErrno: 1045}}}
	out := reporting
	out.OptedIn = false
	often, seldom := api.SweepInput{}, api.SweepInput{Operated: true}
	assert.True(t, swept(ours, often, false))
	assert.False(t, swept(ours, seldom, false))
	assert.False(t, swept(theirs, often, false))
	assert.True(t, swept(theirs, seldom, false))
	assert.True(t, swept(theirs, often, true), "it was stuck when last seen")
	assert.True(t, swept(reporting, often, false))
	assert.False(t, swept(out, often, false))
	assert.False(t, swept(out, seldom, false))
}

func TestWhatAnAnswerSaysOfAReplica(t *testing.T) {
	on := api.Group{OptedIn: true}
	for name, c := range map[string]struct {
		group  api.Group
		answer answer
		phase  string
		reason api.Reason
	}{
		"both threads run":          {on, answer{channels: []api.Channel{{IO: "Yes", SQL: true}}}, api.PhaseHealthy, api.ReasonReplicating},
		"1045":                      {on, answer{channels: []api.Channel{{IO: "Connecting", SQL: true, IOErrno: 1045}}}, api.PhaseStuck, api.ReasonThreshold},
		"1045, the thread gave up":  {on, answer{channels: []api.Channel{{IO: "No", SQL: true, IOErrno: 1045}}}, api.PhaseStuck, api.ReasonThreshold},
		"1045, not opted in":        {api.Group{}, answer{channels: []api.Channel{{IOErrno: 1045}}}, api.PhaseStuck, api.RepairOff},
		"another error":             {on, answer{channels: []api.Channel{{IO: "Connecting", IOErrno: 2003}}}, api.PhaseHandsOff, api.IOError},
		"SQL stopped by an error":   {on, answer{channels: []api.Channel{{IO: "Yes", SQLErrno: 1062}}}, api.PhaseHandsOff, api.SQLThreadStopped},
		"stopped by hand":           {on, answer{channels: []api.Channel{{IO: "No"}}}, api.PhaseHandsOff, api.ReplicationStopped},
		"SQL stopped by hand":       {on, answer{channels: []api.Channel{{IO: "Yes"}}}, api.PhaseHandsOff, api.ReplicationStopped},
		"connecting, no error yet":  {on, answer{channels: []api.Channel{{IO: "Connecting", SQL: true}}}, api.PhaseUnknown, api.NotVerified},
		"an empty answer":           {on, answer{}, api.PhaseUnknown, api.ChannelMissing},
		"no answer in time":         {on, answer{err: assert.AnError}, api.PhaseUnknown, api.ReplicaUnreachable},
		"the admin is refused":      {on, answer{err: api.Failf(api.AdminCredentialsRejected, "no")}, api.PhaseUnknown, api.AdminCredentialsRejected},
		"the resource is not valid": {api.Group{Invalid: "no"}, answer{}, api.PhaseUnknown, api.GroupInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			e := judged(c.group, api.GroupReplica{Name: "r1"}, c.answer)
			assert.Equal(t, c.phase, e.Phase)
			assert.Equal(t, c.reason, e.Reason)
		})
	}
}

// A sweep does not take the word from the run that works on a replica.
func TestAStatusThatARunHasWrittenStays(t *testing.T) {
	at := time.Now()
	began := at.Add(-time.Hour)
	stuck := api.ReplicaStatus{IOErrno: 1045, Phase: api.PhaseStuck, Reason: api.ReasonThreshold}
	byRun := api.ReplicaStatus{IOErrno: 1045, Since: &began, Phase: api.PhasePaused, Reason: api.SecretMismatch, Message: "m", WorkflowID: "w", LastRepair: &began}
	out := merged(byRun, stuck, at)
	assert.Equal(t, byRun, out)

	fresh := merged(api.ReplicaStatus{Phase: api.PhaseRepaired, LastRepair: &began}, stuck, at)
	assert.Equal(t, at, *fresh.Since, "a new error begins now")
	assert.Equal(t, api.ReasonThreshold, fresh.Reason)

	off := stuck
	off.Reason = api.RepairOff
	assert.Equal(t, api.RepairOff, merged(byRun, off, at).Reason)

	away := api.ReplicaStatus{Phase: api.PhaseUnknown, Reason: api.ReplicaUnreachable}
	assert.Equal(t, began, *merged(byRun, away, at).Since, "what is known of the error stays")

	healthy := api.ReplicaStatus{Phase: api.PhaseHealthy, Reason: api.ReasonReplicating}
	assert.Nil(t, merged(byRun, healthy, at).Since)
}

func TestSightingsForgetWhatIsGone(t *testing.T) {
	s := newSightings()
	s.put(shopR1, sighting{errno: 1045})
	g := api.Group{GroupRef: shopDB, Replicas: []api.GroupReplica{{Name: "r1"}}}
	assert.True(t, s.stuck(g))
	s.keep([]api.Group{g})
	assert.True(t, s.stuck(g))
	s.keep(nil)
	assert.False(t, s.stuck(g))
}
