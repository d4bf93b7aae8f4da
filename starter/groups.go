package starter

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/seedmend/seedmend/api"
)

// Mender starts and wakes repairs; Mends does.
type Mender interface {
	Look(ctx context.Context, in api.MendInput, now api.Versions, why string) error
	Wake(ctx context.Context, r api.ReplicaRef, why string) error
}

// GroupWatcher turns what the operator reports of its replicas into repairs, at
// once: sweeps are the safety net.
type GroupWatcher struct {
	mends Mender
	log   *slog.Logger

	mu     sync.Mutex
	queue  workqueue.TypedRateLimitingInterface[api.ReplicaRef] // nil while another leads
	latest map[api.ReplicaRef]report
	given  map[api.ReplicaRef]report
	told   time.Time
}

// report is what is known of one replica.
type report struct {
	stuck      bool
	since      time.Time
	generation int64
	// threshold may be an annotation's, which leaves the generation as it is.
	threshold time.Duration
	switching bool
}

// NewGroupWatcher returns a watcher that does nothing until Lead.
func NewGroupWatcher(mends Mender, log *slog.Logger) *GroupWatcher {
	return &GroupWatcher{mends: mends, log: log, latest: map[api.ReplicaRef]report{}, given: map[api.ReplicaRef]report{}}
}

// OnGroup is called for every group that was added or changed.
func (w *GroupWatcher) OnGroup(g api.Group) {
	for _, r := range g.Replicas {
		// Of our own kind the status is what a sweep has written.
		if r.Reported == nil || g.Kind != api.KindMariaDB {
			continue
		}
		now := report{
			stuck: r.Reported.IOErrno == api.AuthErrno && g.OptedIn && g.Invalid == "",
			since: r.Reported.Since, generation: g.Generation, threshold: g.Threshold, switching: g.Switching,
		}
		w.see(g.Ref(r), now)
	}
}

func (w *GroupWatcher) see(ref api.ReplicaRef, now report) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, given := w.given[ref]
	if !now.stuck && !given {
		delete(w.latest, ref)
		return
	}
	w.latest[ref] = now
	if w.queue != nil && (!given || before != now) {
		w.queue.Add(ref)
	}
}

// Lead works until ctx ends, first on what is known by now.
func (w *GroupWatcher) Lead(ctx context.Context) {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[api.ReplicaRef](200*time.Millisecond, 15*time.Second))
	w.mu.Lock()
	w.queue = queue
	for ref := range w.latest {
		queue.Add(ref)
	}
	w.mu.Unlock()
	var workers sync.WaitGroup
	for range starting {
		workers.Go(func() {
			for w.next(ctx, queue) {
			}
		})
	}
	<-ctx.Done()
	w.mu.Lock()
	w.queue, w.given = nil, map[api.ReplicaRef]report{}
	w.mu.Unlock()
	queue.ShutDown()
	workers.Wait()
}

func (w *GroupWatcher) next(ctx context.Context, queue workqueue.TypedRateLimitingInterface[api.ReplicaRef]) bool {
	ref, stop := queue.Get()
	if stop {
		return false
	}
	defer queue.Done(ref)
	if err := w.serve(ctx, ref); err != nil && ctx.Err() == nil {
		w.complain(ref, err)
		queue.AddRateLimited(ref)
		return true
	}
	queue.Forget(ref)
	return true
}

func (w *GroupWatcher) serve(ctx context.Context, ref api.ReplicaRef) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	w.mu.Lock()
	now, known := w.latest[ref]
	w.mu.Unlock()
	if !known {
		return nil
	}
	var err error
	if now.stuck {
		in := api.MendInput{Replica: ref, Since: now.since}
		err = w.mends.Look(ctx, in, api.Versions{Generation: now.generation}, "the resource reports error 1045")
	} else {
		err = w.mends.Wake(ctx, ref, "the resource reports no error 1045 any more")
	}
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.stuck {
		w.given[ref] = now
	} else {
		delete(w.given, ref)
	}
	return nil
}

func (w *GroupWatcher) complain(ref api.ReplicaRef, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.told) < logEvery {
		return
	}
	w.told = time.Now()
	w.log.Warn("repairs cannot be started; going on by itself", "replica", ref.Key(), "error", err)
}
