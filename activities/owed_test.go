package activities

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seedmend/seedmend/api"
)

// runs is one replica's last run, in memory.
type runs struct {
	owed    api.Threads
	running bool
	err     error

	looks []api.MendInput
	wakes int
}

func (r *runs) Look(_ context.Context, in api.MendInput, _ api.Versions, _ string) error {
	r.looks = append(r.looks, in)
	r.running = true
	return r.err
}

func (r *runs) Wake(context.Context, api.ReplicaRef, string) error {
	r.wakes++
	return r.err
}

func (r *runs) Owed(context.Context, api.ReplicaRef) (api.Threads, bool, error) {
	if r.running {
		return api.ThreadsNone, true, r.err
	}
	return r.owed, false, r.err
}

// watched is one replica, under a process that sweeps again and again.
func watched(optedIn bool) (r *runs, sweepOnce func(c api.Channel)) {
	r = &runs{}
	m := NewMender()
	m.Runs, m.Log = r, slog.New(slog.DiscardHandler)
	g := api.Group{OptedIn: optedIn}
	return r, func(c api.Channel) {
		s := &sweep{Mender: m}
		entry := described(g, api.ReplicaStatus{}, c)
		s.wake(context.Background(), g, api.GroupReplica{}, entry, sighting{reason: entry.Reason, errno: entry.IOErrno, stopped: c.IO == api.IONo}, func() api.Versions { return api.Versions{} })
	}
}

var (
	stuckHere     = api.Channel{IO: api.IOConnecting, SQL: true, IOErrno: api.AuthErrno}
	stoppedHere   = api.Channel{IO: api.IONo, IOErrno: api.AuthErrno} // as MariaDB has it after STOP
	stoppedByHand = api.Channel{IO: api.IONo}
	healthyHere   = api.Channel{IO: api.IOYes, SQL: true}
)

func TestASweepWakesForWhatIsNew(t *testing.T) {
	r, sweep := watched(true)
	for range 3 {
		sweep(stuckHere)
	}
	assert.Len(t, r.looks, 1)
	for range 3 {
		sweep(healthyHere)
	}
	assert.Len(t, r.looks, 1)
	assert.Equal(t, 1, r.wakes)
	r.running = false
	for range 3 {
		sweep(stoppedByHand)
	}
	assert.Len(t, r.looks, 1)
	assert.Equal(t, 1, r.wakes)
}

// The run may be terminated at any time, by a person or a deadline, with its
// worker gone: then another process's sweep has seen the replica stopped before.
func TestASweepFindsWhatACutRunHasLeftStopped(t *testing.T) {
	for name, stopped := range map[string]api.Channel{"MySQL, or a threshold of zero": stoppedByHand, "MariaDB keeps the error": stoppedHere} {
		for _, optedIn := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				r, sweep := watched(optedIn)
				sweep(stuckHere)
				r.running = true
				sweep(stopped) // the run is at work
				before, wakes := len(r.looks), r.wakes
				sweep(stopped)
				assert.Len(t, r.looks, before, "a run that is at work is left alone")
				assert.Equal(t, wakes, r.wakes)
				r.running, r.owed = false, api.ThreadsAll
				sweep(stopped)
				if assert.Len(t, r.looks, before+1) {
					assert.Equal(t, api.ThreadsAll, r.looks[before].Owed)
				}
			})
		}
	}
}

func TestASweepThatCannotAskTriesAgain(t *testing.T) {
	r, sweep := watched(true)
	r.err = errors.New("Temporal is away")
	sweep(stoppedHere)
	assert.Empty(t, r.looks)
	r.err, r.owed = nil, api.ThreadsIO
	sweep(stoppedHere)
	assert.Len(t, r.looks, 1)
}
