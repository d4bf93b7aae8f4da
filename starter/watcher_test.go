package starter_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/starter"
)

type entry struct {
	req     api.Request
	settled bool
}

// fakes are a cache and a starter that remember.
type fakes struct {
	mu      sync.Mutex
	objects map[api.SecretRef]entry
	started []started
	deleted []api.Request
	fail    int // this many starts fail
}

type started struct {
	key        string
	generation int64
	why        starter.Why
}

func (f *fakes) Lookup(namespace, name string) (api.Request, bool, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e, ok := f.objects[api.SecretRef{Namespace: namespace, Name: name}]
	return e.req, e.settled, ok
}

func (f *fakes) Requests() (refs []api.SecretRef) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for ref := range f.objects {
		refs = append(refs, ref)
	}
	return refs
}

func (f *fakes) Reconcile(_ context.Context, req api.Request, why starter.Why) (client.WorkflowRun, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail > 0 {
		f.fail--
		return nil, errors.New("Temporal is away")
	}
	f.started = append(f.started, started{req.Key(), req.Generation, why})
	return nil, nil
}

func (f *fakes) Deleted(_ context.Context, req api.Request) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deleted = append(f.deleted, req)
	return nil
}

func (f *fakes) set(req api.Request, settled bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.objects == nil {
		f.objects = map[api.SecretRef]entry{}
	}
	f.objects[api.SecretRef{Namespace: req.Namespace, Name: req.Name}] = entry{req, settled}
}

func (f *fakes) starts() []started {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]started(nil), f.started...)
}

// watching returns a watcher that leads, once it has begun to.
func watching(t *testing.T, f *fakes) *starter.Watcher {
	t.Helper()
	w := starter.NewWatcher(f, f, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); w.Lead(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	// A deletion is handed on only by a watcher that leads.
	require.Eventually(t, func() bool {
		w.OnDelete(api.Request{Namespace: "probe", Name: "probe", UID: "probe"})
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.deleted) > 0
	}, 5*time.Second, time.Millisecond)
	return w
}

func req(name string, generation int64) api.Request {
	return api.Request{Namespace: "shop", Name: name, UID: "uid-" + name, Generation: generation}
}

func TestARestartStartsNothingForSettledRequests(t *testing.T) {
	f := &fakes{}
	for _, name := range []string{"ready", "failed"} {
		f.set(req(name, 3), true)
	}
	f.set(req("open", 1), false)
	w := watching(t, f)
	w.OnRequest(req("ready", 3), true)
	w.OnRequest(req("failed", 3), true)
	require.Eventually(t, func() bool { return len(f.starts()) == 1 }, 5*time.Second, time.Millisecond)
	assert.Equal(t, []started{{"shop/open", 1, starter.Why{}}}, f.starts())
}

func TestARequestIsStartedOnceAGeneration(t *testing.T) {
	f := &fakes{}
	w := watching(t, f)
	one := req("db", 1)
	f.set(one, false)
	w.OnRequest(one, false)
	require.Eventually(t, func() bool { return len(f.starts()) == 1 }, 5*time.Second, time.Millisecond)
	for range 5 {
		w.OnRequest(one, false) // status writes of the run
	}
	two := req("db", 2)
	f.set(two, false)
	w.OnRequest(two, false)
	require.Eventually(t, func() bool { return len(f.starts()) == 2 }, 5*time.Second, time.Millisecond)
	assert.Equal(t, []started{{"shop/db", 1, starter.Why{}}, {"shop/db", 2, starter.Why{}}}, f.starts())
}

func TestAGenerationThatWasWorkedOnIsCheckedFirst(t *testing.T) {
	f := &fakes{}
	w := watching(t, f)
	touched := req("db", 4)
	touched.Conditions = []api.Condition{{Type: api.ConditionReady, Status: "False", Reason: "Retrying", ObservedGeneration: 4}}
	f.set(touched, false)
	w.OnRequest(touched, false)
	require.Eventually(t, func() bool { return len(f.starts()) == 1 }, 5*time.Second, time.Millisecond)
	assert.True(t, f.starts()[0].why.Recheck)
}

func TestAStartThatFailsIsTriedAgain(t *testing.T) {
	f := &fakes{fail: 3}
	w := watching(t, f)
	f.set(req("db", 1), false)
	w.OnRequest(req("db", 1), false)
	require.Eventually(t, func() bool { return len(f.starts()) == 1 }, 10*time.Second, 5*time.Millisecond)
}

func TestADeletionReachesTheRun(t *testing.T) {
	f := &fakes{}
	w := watching(t, f)
	w.OnDelete(req("db", 1))
	require.Eventually(t, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return slices.ContainsFunc(f.deleted, func(r api.Request) bool { return r.UID == "uid-db" })
	}, 5*time.Second, time.Millisecond)
}

func TestAWatcherThatDoesNotLeadDoesNothing(t *testing.T) {
	f := &fakes{}
	w := starter.NewWatcher(f, f, slog.New(slog.DiscardHandler))
	f.set(req("db", 1), false)
	w.OnRequest(req("db", 1), false)
	w.OnDelete(req("db", 1))
	assert.Zero(t, w.Depth())
	assert.Empty(t, f.starts())
}

func TestLeadershipCanBeLostAndWonAgain(t *testing.T) {
	f := &fakes{}
	f.set(req("db", 1), false)
	w := starter.NewWatcher(f, f, slog.New(slog.DiscardHandler))
	for turn := 1; turn <= 2; turn++ {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); w.Lead(ctx) }()
		require.Eventually(t, func() bool { return len(f.starts()) == turn }, 5*time.Second, time.Millisecond)
		cancel()
		<-done
	}
}
