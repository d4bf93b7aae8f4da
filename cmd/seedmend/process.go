package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"
	"k8s.io/klog/v2"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database/mysql"
	"github.com/seedmend/seedmend/k8s"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
	"github.com/seedmend/seedmend/starter"
	"github.com/seedmend/seedmend/worker"
)

// process is one run of run, worker or watch.
type process struct {
	service *service
	kube    *k8s.Client
	metrics *worker.Metrics
	health  *worker.Health
	log     *slog.Logger

	temporal atomic.Bool
	watcher  atomic.Pointer[starter.Watcher]
	groups   atomic.Pointer[starter.GroupWatcher]
}

var (
	errTemporal = errors.New("Temporal or its namespace is not there yet")
	errCaches   = errors.New("the caches are not synced yet")
)

func (p *process) run(ctx context.Context, works, watches bool) error {
	klog.SetSlogLogger(p.log) // leader election speaks through klog
	watch := k8s.NewWatch(p.kube, k8s.WatchOptions{
		ProvidersOnly:   !watches,
		MySQLNamespaces: p.service.providerNamespaces,
		Log:             p.log,
		OnRequest: func(obj *v1alpha1.DatabaseRequest, _ bool) {
			if w := p.watcher.Load(); w != nil {
				w.OnRequest(k8s.Snapshot(obj), k8s.Terminal(obj))
			}
		},
		OnGroup: func(group api.Group) {
			if w := p.groups.Load(); w != nil {
				w.OnGroup(group)
			}
		},
		OnDelete: func(obj *v1alpha1.DatabaseRequest) {
			if w := p.watcher.Load(); w != nil {
				w.OnDelete(k8s.Snapshot(obj))
			}
		},
	})
	p.health.Part("temporal", flag(p.temporal.Load, errTemporal))
	p.health.Part("kubernetes", flag(watch.Synced, errCaches))

	parts, ctx := errgroup.WithContext(ctx)
	parts.Go(func() error { watch.Run(ctx); return nil })
	parts.Go(func() error { return p.serve(ctx, watch, works, watches) })
	if err := parts.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	p.log.Info("stopped")
	return nil
}

func flag(set func() bool, unset error) func() error {
	return func() error {
		if set() {
			return nil
		}
		return unset
	}
}

// serve connects and then works, watches, or both on one client, so that
// workflows start eagerly in this very process.
func (p *process) serve(ctx context.Context, watch *k8s.Watch, works, watches bool) error {
	options, err := worker.ClientOptions(p.log, p.metrics)
	if err != nil {
		return err
	}
	c, err := worker.Connect(ctx, options, p.log)
	if err != nil {
		return err
	}
	defer c.Close()
	if !synced(ctx, watch) {
		return ctx.Err()
	}
	searchable := worker.EnsureSearchAttributes(ctx, c, options.Namespace, p.log)
	if works {
		stop, err := p.work(ctx, c, watch, searchable)
		if err != nil {
			return err
		}
		defer stop()
	}
	p.temporal.Store(true)
	p.log.Info("running", "version", version, "temporal", options.HostPort, "namespace", options.Namespace, "worker", works, "watcher", watches)
	if !watches {
		<-ctx.Done()
		return ctx.Err()
	}
	return p.watch(ctx, c, watch, searchable)
}

// mostServers is how many servers a connection is kept open to: a sweep comes
// back to each replica every half minute.
const mostServers = 512

// work runs both workers: each job has a task queue of its own.
func (p *process) work(ctx context.Context, c client.Client, watch *k8s.Watch, searchable bool) (stop func(), err error) {
	events := k8s.NewEvents(p.kube)
	engine := mysql.New(mysql.Options{TLS: mysql.TLSPolicy(p.service.databaseTLS), MaxServers: mostServers, Log: p.log})
	mends := &starter.Mends{Client: c, SearchAttributes: searchable}
	seeds := worker.NewSeeds(c, newSeeder(p.kube, watch, events, engine, p.log), p.metrics)
	mending := worker.NewMends(c, newMender(p.kube, watch, events, engine, mends, p.log), p.metrics)
	if err := seeds.Start(); err != nil {
		return nil, err
	}
	if err := mending.Start(); err != nil {
		seeds.Stop()
		return nil, err
	}
	return func() {
		// Each stops polling at once, and lets running activities end.
		var stopping sync.WaitGroup
		stopping.Go(seeds.Stop)
		stopping.Go(mending.Stop)
		stopping.Wait()
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		events.Shutdown(closing)
		_ = engine.Close()
	}, nil
}

func (p *process) watch(ctx context.Context, c client.Client, watch *k8s.Watch, searchable bool) error {
	watcher := starter.NewWatcher(requests{watch}, &starter.Starter{Client: c, Tuning: p.service.tuning, SearchAttributes: searchable}, p.log)
	p.watcher.Store(watcher)
	err := p.metrics.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "seedmend_requests_to_start",
		Help: "Requests whose workflow has yet to be started or signalled by this watcher.",
	}, func() float64 { return float64(watcher.Depth()) }))
	if err != nil {
		return err
	}
	groups := starter.NewGroupWatcher(&starter.Mends{Client: c, SearchAttributes: searchable}, p.log)
	p.groups.Store(groups)
	for _, g := range watch.Groups() {
		groups.OnGroup(g) // those that came before there was a watcher
	}
	lead := func(ctx context.Context) {
		var leading sync.WaitGroup
		leading.Go(func() { watcher.Lead(ctx) })
		leading.Go(func() { groups.Lead(ctx) })
		leading.Go(func() { p.service.sweeps.Keep(ctx, c, watch.Groups, p.log) })
		leading.Wait()
	}
	if !p.service.leaderElection {
		lead(ctx)
		return ctx.Err()
	}
	namespace := p.service.leaderNamespace
	if namespace == "" {
		namespace = podNamespace()
	}
	return starter.Election{Client: p.kube.Kube, Namespace: namespace, Identity: identity(), Log: p.log}.Run(ctx, lead)
}

// synced waits for the caches, however long a CRD takes to appear.
func synced(ctx context.Context, watch *k8s.Watch) bool {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for !watch.Synced() {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
	return true
}

// requests is the watcher's view of the cache.
type requests struct{ *k8s.Watch }

// Requests names all requests.
func (r requests) Requests() []api.SecretRef {
	objs := r.Watch.Requests()
	refs := make([]api.SecretRef, len(objs))
	for i, o := range objs {
		refs[i] = api.SecretRef{Namespace: o.Namespace, Name: o.Name}
	}
	return refs
}
