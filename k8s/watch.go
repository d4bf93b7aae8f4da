package k8s

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
)

// WatchOptions of a Watch.
type WatchOptions struct {
	// ProvidersOnly leaves requests alone: enough for a process that only works.
	// Groups of replicas are watched all the same.
	ProvidersOnly bool
	// MySQLNamespaces are where DatabaseMySQLProviders are read from; none by default.
	MySQLNamespaces []string
	// Resync is how often every request is handed to OnRequest again; 0 = never.
	Resync time.Duration
	// OnRequest is called for a request that is new, changed or due for a
	// resync; initial for those that were there when the watch began. Calls come
	// one at a time, and obj is shared: it must not be changed.
	OnRequest func(obj *v1alpha1.DatabaseRequest, initial bool)
	// OnDelete is called once for a request that is gone, with its last known state.
	OnDelete func(obj *v1alpha1.DatabaseRequest)
	// OnGroup is called for a group of replicas that is new or not as it was,
	// also for one that is Invalid. Calls come one at a time.
	OnGroup func(group api.Group)
	// Log gets one line when a kind cannot be watched, one a minute while it
	// lasts, and one when it is over.
	Log *slog.Logger
}

// Watch keeps the requests, providers and groups of a cluster at hand. It survives CRDs
// that are missing, deleted or made anew, and an API server that goes away.
type Watch struct {
	client   *Client
	opts     WatchOptions
	required []*watched
	optional []*watched

	requests  *watched
	providers *watched
	older     []*watched // DatabaseMySQLProviders, one a namespace
	groups    []*watched
}

// watched is one informer behind its gate.
type watched struct {
	*gate
	cache.SharedIndexInformer
	handled cache.InformerSynced
}

func (w *watched) synced() bool { return w.handled() && !w.missing() }

// settled: synced, or known to be not available.
func (w *watched) settled() bool { return w.handled() || w.failed() }

// NewWatch makes a Watch; Run starts it.
func NewWatch(client *Client, opts WatchOptions) *Watch {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	slices.Sort(opts.MySQLNamespaces)
	opts.MySQLNamespaces = slices.Compact(opts.MySQLNamespaces)
	w := &Watch{client: client, opts: opts}
	w.providers = newWatched(w, v1alpha1.ResourceRelationalDatabaseProviders, false, client.RelationalDatabaseProviders(), &v1alpha1.RelationalDatabaseProvider{}, 0)
	w.required = append(w.required, w.providers)
	for _, namespace := range opts.MySQLNamespaces {
		w.older = append(w.older, newWatched(w, v1alpha1.ResourceDatabaseMySQLProviders, true, client.DatabaseMySQLProviders(namespace), &v1alpha1.DatabaseMySQLProvider{}, 0))
	}
	w.optional = slices.Clone(w.older)
	w.watchGroups()
	if !opts.ProvidersOnly {
		w.requests = newWatched(w, v1alpha1.ResourceDatabaseRequests, false, client.DatabaseRequests(corev1.NamespaceAll), &v1alpha1.DatabaseRequest{}, opts.Resync)
		w.required = append(w.required, w.requests)
		registration, err := w.requests.AddEventHandler(w.handler())
		must(err)
		w.requests.handled = registration.HasSynced
	}
	return w
}

func newWatched[L runtime.Object](w *Watch, resource string, optional bool, client lister[L], example runtime.Object, resync time.Duration) *watched {
	g := &gate{resource: resource, optional: optional, log: w.opts.Log}
	informer := cache.NewSharedIndexInformerWithOptions(gated(g, client), example, cache.SharedIndexInformerOptions{ResyncPeriod: resync})
	must(informer.SetTransform(slim))
	must(informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, _ *cache.Reflector, err error) {
		if ctx.Err() == nil {
			g.record(err)
		}
	}))
	return &watched{gate: g, SharedIndexInformer: informer, handled: informer.HasSynced}
}

// must is for calls that fail only on an informer that has been started.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// handler turns the informer's calls into those of the options.
func (w *Watch) handler() cache.ResourceEventHandler {
	present := func(obj any, initial bool) {
		if req, ok := obj.(*v1alpha1.DatabaseRequest); ok && w.opts.OnRequest != nil {
			w.opts.OnRequest(req, initial)
		}
	}
	gone := func(obj any) {
		if req := lastKnown(obj); req != nil && w.opts.OnDelete != nil {
			w.opts.OnDelete(req)
		}
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: present,
		UpdateFunc: func(before, now any) {
			// A deletion that nobody saw, and a new object of that name.
			if a, b := lastKnown(before), lastKnown(now); a != nil && b != nil && a.UID != b.UID {
				gone(before)
			}
			present(now, false)
		},
		DeleteFunc: gone,
	}
}

// lastKnown unwraps what an informer hands out for a deletion it did not see.
func lastKnown(obj any) *v1alpha1.DatabaseRequest {
	unknown, wrapped := obj.(cache.DeletedFinalStateUnknown)
	if wrapped {
		obj = unknown.Obj
	}
	if req, ok := obj.(*v1alpha1.DatabaseRequest); ok && req != nil {
		return req
	}
	namespace, name, err := cache.SplitMetaNamespaceKey(unknown.Key)
	if !wrapped || err != nil {
		return nil
	}
	req := &v1alpha1.DatabaseRequest{}
	req.Namespace, req.Name = namespace, name
	return req
}

// Run watches until the context ends, and returns when the last handler has.
func (w *Watch) Run(ctx context.Context) {
	// The reflectors speak through klog.
	ctx = klog.NewContext(ctx, logr.FromSlogHandler(w.opts.Log.Handler()))
	if w.requests != nil {
		find := w.request
		w.client.known.Store(&find)
		defer w.client.known.Store(nil)
	}
	var running sync.WaitGroup
	for _, each := range append(slices.Clone(w.required), w.optional...) {
		running.Go(func() { each.RunWithContext(ctx) })
	}
	running.Wait()
}

// Synced tells whether the requests and the providers are known, and every
// request that was there has been handed to OnRequest. It turns false while one
// of their CRDs is missing. A cluster without DatabaseMySQLProviders or groups is
// fine; where there are groups, they are known and have been handed to OnGroup.
func (w *Watch) Synced() bool {
	for _, each := range w.required {
		if !each.synced() {
			return false
		}
	}
	for _, each := range w.optional {
		if !each.settled() {
			return false
		}
	}
	return true
}

// request finds a request in the cache.
func (w *Watch) request(namespace, name string) *v1alpha1.DatabaseRequest {
	if w.requests == nil {
		return nil
	}
	obj, _, _ := w.requests.GetStore().GetByKey(namespace + "/" + name)
	req, _ := obj.(*v1alpha1.DatabaseRequest)
	return req
}

// Requests are all requests in the cache. They are shared: do not change them.
func (w *Watch) Requests() []*v1alpha1.DatabaseRequest {
	if w.requests == nil {
		return nil
	}
	return listed[*v1alpha1.DatabaseRequest](w.requests)
}

// Catalog is the connections that the providers name, always as of now. It
// fails softly until the providers are known.
func (w *Watch) Catalog() *Catalog {
	return &Catalog{client: w.client, namespaces: w.opts.MySQLNamespaces, read: func() ([]offer, error) {
		for _, each := range append([]*watched{w.providers}, w.older...) {
			if !each.settled() || each == w.providers && !each.synced() {
				return nil, api.Failf(api.ClusterAPIError, "The providers are not known yet.")
			}
		}
		var all []offer
		for _, p := range listed[*v1alpha1.RelationalDatabaseProvider](w.providers) {
			all = append(all, offersOf(p)...)
		}
		for _, each := range w.older {
			for _, p := range listed[*v1alpha1.DatabaseMySQLProvider](each) {
				all = append(all, mysqlOffersOf(p)...)
			}
		}
		return all, nil
	}}
}

func listed[T any](w *watched) []T {
	objs := w.GetStore().List()
	out := make([]T, 0, len(objs))
	for _, obj := range objs {
		if one, ok := obj.(T); ok {
			out = append(out, one)
		}
	}
	return out
}
