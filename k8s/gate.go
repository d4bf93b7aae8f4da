package k8s

import (
	"context"
	"log/slog"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

const (
	// missingPause is how often a kind that is not served is asked for again.
	missingPause = 2 * time.Second
	// optionalPause is the same for a kind that many clusters never have.
	optionalPause = 10 * time.Second
	// firstPause and lastPause bound the growing pause after other errors.
	// A reflector's own would grow to half a minute.
	firstPause = 250 * time.Millisecond
	lastPause  = 4 * time.Second
	// remindEvery is how often a lasting error is logged.
	remindEvery = time.Minute
)

// lister is what a typed client does for an informer.
type lister[L runtime.Object] interface {
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
}

// gate stands between an informer and the API server. It holds back a list
// until it can succeed: until the kind is served, the role allows it, and the
// server is there. So one informer lasts for the whole life of the process,
// through missing, deleted and re-created CRDs.
type gate struct {
	resource string
	optional bool
	log      *slog.Logger

	mu      sync.Mutex
	failing error // the last answer, nil when it was good
	told    time.Time
}

// gated makes an informer's source of a typed client.
func gated[L runtime.Object](g *gate, client lister[L]) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return retried(ctx, g, func() (L, error) { return client.List(ctx, opts) }, isForReflector)
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			return retried(ctx, g, func() (watch.Interface, error) { return client.Watch(ctx, opts) },
				// Nothing but a list can follow most of these, so the reflector has to know.
				func(err error) bool { return !utilnet.IsConnectionRefused(err) && !apierrors.IsTooManyRequests(err) })
		},
	}
}

// isForReflector: these the reflector answers with another kind of list.
func isForReflector(err error) bool {
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) ||
		apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}

// retried tries until it works, the context ends, or the error is one to hand on.
func retried[R any](ctx context.Context, g *gate, try func() (R, error), handOn func(error) bool) (R, error) {
	pause := firstPause
	for {
		result, err := try()
		if ctx.Err() != nil {
			return result, context.Cause(ctx)
		}
		g.record(err)
		if err == nil || handOn(err) {
			return result, err
		}
		wait := pause
		if apierrors.IsNotFound(err) {
			if wait = missingPause; g.optional {
				wait = optionalPause
			}
		} else if pause *= 2; pause > lastPause {
			pause = lastPause
		}
		select {
		case <-ctx.Done():
			return result, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// record keeps the state, and logs a change of it at once and a lasting error
// now and then.
func (g *gate) record(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.failing
	g.failing = err
	switch {
	case err == nil && before != nil && !g.told.IsZero():
		g.told = time.Time{}
		g.log.Info("watching again", "resource", g.resource)
	case err == nil || isForReflector(err) || g.optional && apierrors.IsNotFound(err):
	case time.Since(g.told) > remindEvery:
		g.told = time.Now()
		text := "cannot watch, trying on"
		if apierrors.IsNotFound(err) {
			text = "waiting for the CRD"
		}
		g.log.Warn(text, "resource", g.resource, "error", call{verb: "list", resource: g.resource}.failure(err))
	}
}

// missing tells whether the API server does not serve the kind.
func (g *gate) missing() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return apierrors.IsNotFound(g.failing)
}

// failed tells whether the last answer was an error.
func (g *gate) failed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failing != nil
}
