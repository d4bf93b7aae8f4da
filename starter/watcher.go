package starter

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	"k8s.io/client-go/util/workqueue"

	"github.com/seedmend/seedmend/api"
)

// Bounds of the watcher.
const (
	// starting is how many workflows are started at once; with eager start each
	// takes a round trip to Temporal.
	starting = 16
	// recheckEvery is how often requests that are not settled are offered again,
	// for the case that a workflow was terminated by hand.
	recheckEvery = 10 * time.Minute
	// startTimeout bounds one start.
	startTimeout = 15 * time.Second
	logEvery     = time.Minute
)

// Cache is the informer's view of the requests.
type Cache interface {
	// Lookup returns a request, and whether it is settled at its present generation.
	Lookup(namespace, name string) (req api.Request, settled, found bool)
	Requests() []api.SecretRef
}

// Reconciler starts workflows; a Starter does.
type Reconciler interface {
	Reconcile(ctx context.Context, req api.Request, why Why) (client.WorkflowRun, error)
	Deleted(ctx context.Context, req api.Request) error
}

// Watcher turns what the informer sees into workflows. Nothing is started for a
// request that is settled, so a restart starts nothing for those.
type Watcher struct {
	cache   Cache
	starter Reconciler
	log     *slog.Logger

	mu      sync.Mutex
	queue   workqueue.TypedRateLimitingInterface[item] // nil while another leads
	given   map[api.SecretRef]given                    // what was handed to Temporal
	lastLog time.Time
}

// item is one thing to do. again asks for a request that was given to Temporal
// already; deletedUID is set where the object is gone.
type item struct {
	namespace, name string
	again           bool
	deletedUID      string
}

type given struct {
	uid        string
	generation int64
}

// NewWatcher returns a watcher that does nothing until Lead.
func NewWatcher(cache Cache, starter Reconciler, log *slog.Logger) *Watcher {
	return &Watcher{cache: cache, starter: starter, log: log, given: map[api.SecretRef]given{}}
}

// OnRequest is called for every request that was added or changed.
func (w *Watcher) OnRequest(req api.Request, settled bool) {
	if settled {
		w.forget(api.SecretRef{Namespace: req.Namespace, Name: req.Name})
		return
	}
	if w.wasGiven(req) {
		return
	}
	w.add(item{namespace: req.Namespace, name: req.Name})
}

// touched tells whether a run has worked on this generation already. The cache
// may then lag behind the end of that run, and a hard failure must not be tried
// a second time for it.
func touched(req api.Request) bool {
	for _, c := range req.Conditions {
		if c.ObservedGeneration == req.Generation {
			return true
		}
	}
	return false
}

// OnDelete is called once an object is gone.
func (w *Watcher) OnDelete(req api.Request) {
	w.forget(api.SecretRef{Namespace: req.Namespace, Name: req.Name})
	w.add(item{namespace: req.Namespace, name: req.Name, deletedUID: req.UID})
}

func (w *Watcher) add(it item) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queue != nil {
		w.queue.Add(it)
	}
}

// Lead works until ctx ends: first on everything that the cache holds, which
// must be synced by now, then on what changes.
func (w *Watcher) Lead(ctx context.Context) {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[item](200*time.Millisecond, 15*time.Second))
	w.lead(queue)
	defer w.lead(nil)
	w.offerAll()
	var workers sync.WaitGroup
	for range starting {
		workers.Go(func() {
			for w.next(ctx, queue) {
			}
		})
	}
	ticker := time.NewTicker(recheckEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			queue.ShutDown()
			workers.Wait()
			return
		case <-ticker.C:
			w.offerAll()
		}
	}
}

// Depth is the number of requests that wait to be started.
func (w *Watcher) Depth() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queue == nil {
		return 0
	}
	return w.queue.Len()
}

func (w *Watcher) lead(queue workqueue.TypedRateLimitingInterface[item]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = queue
}

func (w *Watcher) offerAll() {
	for _, ref := range w.cache.Requests() {
		if _, settled, found := w.cache.Lookup(ref.Namespace, ref.Name); found && !settled {
			w.add(item{namespace: ref.Namespace, name: ref.Name, again: true})
		}
	}
}

func (w *Watcher) next(ctx context.Context, queue workqueue.TypedRateLimitingInterface[item]) bool {
	it, stop := queue.Get()
	if stop {
		return false
	}
	defer queue.Done(it)
	if err := w.serve(ctx, it); err != nil && ctx.Err() == nil {
		w.complain(it, queue.Len(), err)
		queue.AddRateLimited(it)
		return true
	}
	queue.Forget(it)
	return true
}

func (w *Watcher) serve(ctx context.Context, it item) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if it.deletedUID != "" {
		return w.starter.Deleted(ctx, api.Request{Namespace: it.namespace, Name: it.name, UID: it.deletedUID})
	}
	req, settled, found := w.cache.Lookup(it.namespace, it.name)
	if !found || settled || (!it.again && w.wasGiven(req)) {
		return nil
	}
	if _, err := w.starter.Reconcile(ctx, req, Why{Recheck: touched(req)}); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.given[api.SecretRef{Namespace: req.Namespace, Name: req.Name}] = given{req.UID, req.Generation}
	return nil
}

func (w *Watcher) wasGiven(req api.Request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.given[api.SecretRef{Namespace: req.Namespace, Name: req.Name}] == given{req.UID, req.Generation}
}

// forget drops what was given, once the cache has seen it settled or gone.
func (w *Watcher) forget(ref api.SecretRef) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.given, ref)
}

// complain logs at most one line a minute: Temporal being away concerns all.
func (w *Watcher) complain(it item, waiting int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.lastLog) < logEvery {
		return
	}
	w.lastLog = time.Now()
	w.log.Warn("workflows cannot be started; going on by itself", "request", it.namespace+"/"+it.name, "waiting", waiting, "error", err)
}
