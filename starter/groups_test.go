package starter

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seedmend/seedmend/api"
)

// calls notes what a GroupWatcher asks for.
type calls struct {
	mu    sync.Mutex
	looks []api.MendInput
	wakes []api.ReplicaRef
	fail  int
}

func (c *calls) Look(_ context.Context, in api.MendInput, _ api.Versions, _ string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fail > 0 {
		c.fail--
		return errors.New("Temporal is away")
	}
	c.looks = append(c.looks, in)
	return nil
}

func (c *calls) Wake(_ context.Context, r api.ReplicaRef, _ string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wakes = append(c.wakes, r)
	return nil
}

func (c *calls) count() (looks, wakes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.looks), len(c.wakes)
}

func operated(errno int, since time.Time) api.Group {
	return api.Group{
		GroupRef: api.GroupRef{Kind: api.KindMariaDB, Namespace: "shop", Name: "db"}, OptedIn: true, Threshold: time.Minute,
		Replicas: []api.GroupReplica{{Name: "db-1", Reported: &api.Reported{IOErrno: errno, Since: since}}},
	}
}

func TestTheOperatorsReportStartsAndWakesRepairs(t *testing.T) {
	c := &calls{fail: 1} // the first try fails
	w := NewGroupWatcher(c, slog.New(slog.DiscardHandler))
	since := time.Now().Add(-time.Minute)
	w.OnGroup(operated(api.AuthErrno, since)) // before this process leads
	ctx, stop := context.WithCancel(t.Context())
	var leading sync.WaitGroup
	leading.Go(func() { w.Lead(ctx) })
	becomes := func(looks, wakes int, why string) {
		t.Helper()
		assert.Eventually(t, func() bool {
			l, w := c.count()
			return l == looks && w == wakes
		}, 5*time.Second, 5*time.Millisecond, why)
	}
	becomes(1, 0, "started, after a try that failed")
	assert.Equal(t, since, c.looks[0].Since)

	for range 3 {
		w.OnGroup(operated(api.AuthErrno, since))
	}
	faster := operated(api.AuthErrno, since)
	faster.Threshold = time.Second
	w.OnGroup(faster)
	becomes(2, 0, "an annotation changed the threshold; what had not changed was left alone")

	w.OnGroup(operated(0, time.Time{}))
	becomes(2, 1, "the error is over: the run may end")
	w.OnGroup(operated(0, time.Time{}))
	w.OnGroup(operated(2003, time.Time{}))
	ours := operated(api.AuthErrno, since)
	ours.Kind = api.KindReplicationGroup
	w.OnGroup(ours)
	out := operated(api.AuthErrno, since)
	out.OptedIn = false
	w.OnGroup(out)
	odd := operated(api.AuthErrno, since)
	odd.Invalid = "no primary"
	w.OnGroup(odd)
	w.OnGroup(operated(api.AuthErrno, since))
	becomes(3, 1, "only the last of these concerns anybody")
	stop()
	leading.Wait()
}
