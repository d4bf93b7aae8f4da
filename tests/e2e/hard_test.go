package e2e

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
	"github.com/seedmend/seedmend/starter"
	"github.com/seedmend/seedmend/tests/stage"
)

// nothingFor is how long nothing has to happen.
const nothingFor = 20 * time.Second

// quietly watches requests for a while: no status is written, no event is told
// and no run is started.
func quietly(t *testing.T, g *ground, all map[string]*tenant) {
	t.Helper()
	ctx := within(t, nothingFor+2*patience)
	runs := map[string]int{}
	for id, x := range all {
		runs[id] = len(x.runs(t))
	}
	list, err := g.Client.DatabaseRequests("").List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	w, err := g.Client.DatabaseRequests("").Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	require.NoError(t, err)
	defer w.Stop()
	over := time.After(nothingFor)
	for {
		select {
		case e, ok := <-w.ResultChan():
			require.True(t, ok, "the watch broke")
			r, ok := e.Object.(*v1alpha1.DatabaseRequest)
			require.True(t, ok, "%+v", e.Object)
			for id, x := range all {
				assert.False(t, x.namespace == r.Namespace && x.name == r.Name && e.Type == watch.Modified, "%s was written to: %+v", id, r.Status)
			}
		case <-over:
			for id, x := range all {
				assert.Len(t, x.runs(t), runs[id], id)
			}
			return
		}
	}
}

// stillness is what may not change on a ground where nothing happens.
type stillness struct {
	Workflows int64
	Versions  map[string]string // of all requests
	Events    int
	Logins    map[string]int // on each server
}

func (g *ground) stillness(ctx context.Context) (s stillness, err error) {
	count, err := g.Workflows.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{})
	if err != nil {
		return s, err
	}
	requests, err := g.Client.DatabaseRequests("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return s, err
	}
	events, err := g.Client.Kube.CoreV1().Events("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return s, err
	}
	s = stillness{Workflows: count.GetCount(), Versions: map[string]string{}, Events: len(events.Items)}
	for _, r := range requests.Items {
		s.Versions[r.Namespace+"/"+r.Name] = r.ResourceVersion
	}
	s.Logins = map[string]int{}
	for name, m := range g.Servers {
		// Everybody's, that is, but the tests'.
		err := rows(ctx, m, "SELECT COUNT(*) n FROM mysql.general_log WHERE command_type = 'Connect' AND user_host NOT LIKE '%[root]%'", func(r map[string]string) {
			s.Logins[name], _ = strconv.Atoi(r["n"])
		})
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// still sees that nothing happens from now on, and while do is done.
func (g *ground) still(t *testing.T, do func()) {
	t.Helper()
	before, err := g.stillness(within(t, patience))
	require.NoError(t, err)
	if do != nil {
		do()
	}
	ctx := within(t, nothingFor)
	for ctx.Err() == nil {
		after, err := g.stillness(within(t, patience))
		require.NoError(t, err)
		require.Equal(t, before, after, "something happened")
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
	}
}

// F49, and hard failures: 500 requests are Ready and 24 have failed. Nothing
// happens any more: not by itself, not after a restart, not when the seeds are
// edited, not for doubled signals; until somebody says so.
func TestF49NothingHappensToWhatIsSettled(t *testing.T) {
	g := shared
	odd := g.Servers["odd"]
	flags := []string{"--leader-election=false"}
	t.Cleanup(func() { g.restart(t) })
	lonely := func(id, namespace string) *tenant {
		x := g.tenant(id, "odd")
		x.name, x.service, x.namespace = id, id, namespace
		x.selects("odd")
		return x
	}

	// Most of the 500 are from long ago: Temporal has forgotten their runs.
	g.process.Kill()
	began := time.Now()
	old := make([]*tenant, 380)
	for i := range old {
		old[i] = lonely(fmt.Sprintf("f49-old-%03d", i), "f49-old")
	}
	g.settleByHand(t, old)
	require.NoError(t, g.run(within(t, patience), flags...))
	ready := make([]*tenant, 120)
	for i := range ready {
		ready[i] = lonely(fmt.Sprintf("f49-%03d", i), "f49")
	}
	kinds := []struct {
		reason api.Reason
		server []string
		change func(x *tenant)
		works  bool // with the other password in the seed
	}{
		{api.CredentialsRejected, append(everything[:2:2], access), func(x *tenant) { x.seed["password"] = x.other }, true},
		{api.UserConflict, []string{anotherUser}, nil, false},
		{api.DatabaseMissing, []string{aUser}, nil, false},
		{api.AccessDenied, []string{aDatabase, aUser}, nil, false},
		{api.AccountLocked, append(everything[:2:2], access, aLock), nil, false},
		{api.ProviderNotMatched, nil, func(x *tenant) { x.seed["port"] = "1" }, false},
		{api.SeedInvalid, nil, func(x *tenant) { delete(x.seed, "username") }, false},
		{api.NameReserved, nil, func(x *tenant) { x.seed["database"] = "mysql" }, false},
	}
	var failed, willWork []*tenant
	reasons := map[*tenant]api.Reason{}
	for i := range 24 {
		kind := kinds[i%len(kinds)]
		x := lonely(fmt.Sprintf("f49-hard-%02d", i), "f49-hard")
		if kind.change != nil {
			kind.change(x)
		}
		require.NoError(t, x.arrange(within(t, patience), kind.server...))
		failed, reasons[x] = append(failed, x), kind.reason
		if kind.works {
			willWork = append(willWork, x)
		}
	}
	g.askAll(t, append(append([]*tenant{}, failed...), ready...))
	g.settleAll(t, 524)
	t.Logf("524 requests settled after %s", time.Since(began).Round(time.Millisecond))
	for _, x := range failed {
		x.assertConditions(t, reasons[x], true)
	}
	state := snapshot(t, odd)
	for _, x := range ready {
		for key, what := range x.created(t) {
			require.Equal(t, what, state[key].what, key)
		}
	}
	g.recorded(t, 144)

	g.still(t, nil)

	g.still(t, func() { // and after a restart
		g.restart(t, flags...)
	})

	g.still(t, func() { // and after a crash, with every seed edited, and all said twice
		g.process.Kill()
		for _, x := range failed {
			x.mend(t, map[string]string{"database": x.database, "username": x.user, "password": x.password, "port": strconv.Itoa(odd.Port)})
		}
		require.NoError(t, g.run(within(t, patience), flags...))
		second, err := g.Seedmend("watch", flags...)
		require.NoError(t, err)
		t.Cleanup(func() { _ = second.Stop() })
		require.NoError(t, second.Ready(within(t, patience)))
		for _, x := range append(append([]*tenant{}, failed...), ready[:50]...) {
			req := api.Request{Namespace: x.namespace, Name: x.name, UID: x.uid, Generation: 1}
			_ = g.Workflows.SignalWorkflow(within(t, patience), x.workflow(), "", api.SignalReconcile, api.ReconcileSignal{Request: req}) // NotFound: all have ended
		}
	})
	assert.Empty(t, snapshot(t, odd).since(state), "on the server")

	// Two watchers and a person at once on new requests: each is served, once.
	double := make([]*tenant, 10)
	for i := range double {
		double[i] = lonely(fmt.Sprintf("f49-double-%d", i), "f49-double")
	}
	before := snapshot(t, odd)
	g.askAll(t, double)
	s := &starter.Starter{Client: g.Workflows}
	for _, x := range double {
		req, _, err := g.Client.Request(within(t, patience), x.namespace, x.name)
		require.NoError(t, err)
		_, err = s.Reconcile(within(t, patience), req, starter.Why{Recheck: true})
		require.NoError(t, err)
	}
	want := additions{}
	for _, x := range double {
		x.settled(t)
		x.assertConditions(t, api.ReasonCreated, false)
		maps.Copy(want, x.created(t))
	}
	assertAdded(t, want, snapshot(t, odd).since(before))

	// Somebody says so.
	for i, x := range willWork {
		if i%2 == 0 {
			x.force(t)
		} else {
			code, out, errs := g.command(t, "retry", x.key())
			assert.Zero(t, code, "%s%s", out, errs)
		}
	}
	for _, x := range willWork {
		x.settled(t)
		x.assertConditions(t, api.ReasonAdopted, false)
		x.assertSeedGone(t)
		x.logsIn(t)
	}
}

// settleByHand makes requests that are Ready, with statuses as a seedmend of the
// past has left them. No seedmend may run meanwhile.
func (g *ground) settleByHand(t *testing.T, all []*tenant) {
	t.Helper()
	require.NoError(t, g.Namespace(within(t, patience), all[0].namespace))
	group, ctx := errgroup.WithContext(within(t, 2*patience))
	group.SetLimit(16)
	for _, x := range all {
		group.Go(func() error {
			if err := x.ask(ctx); err != nil {
				return err
			}
			r, err := g.Get(ctx, x.namespace, x.name)
			if err != nil {
				return err
			}
			r.Status = v1alpha1.DatabaseRequestStatus{
				ObservedGeneration: r.Generation,
				DatabaseInfo:       &v1alpha1.DatabaseInfo{Username: x.user, Databasename: x.database},
				Conditions: []metav1.Condition{
					{Type: api.ConditionReady, Status: metav1.ConditionTrue, Reason: string(api.ReasonAdopted), ObservedGeneration: r.Generation, LastTransitionTime: metav1.Now()},
					{Type: api.ConditionError, Status: metav1.ConditionFalse, Reason: string(api.ReasonNoError), ObservedGeneration: r.Generation, LastTransitionTime: metav1.Now()},
				},
			}
			_, err = g.Client.DatabaseRequests(x.namespace).UpdateStatus(ctx, r, metav1.UpdateOptions{})
			return err
		})
	}
	require.NoError(t, group.Wait())
}

// askAll makes seeds and requests, many at once.
func (g *ground) askAll(t *testing.T, all []*tenant) {
	t.Helper()
	group, ctx := errgroup.WithContext(within(t, 2*patience))
	group.SetLimit(16)
	for _, x := range all {
		group.Go(func() error {
			if err := x.sow(ctx); err != nil {
				return err
			}
			return x.ask(ctx)
		})
	}
	require.NoError(t, group.Wait())
}

// settleAll waits until all requests have come to their end.
func (g *ground) settleAll(t *testing.T, least int) {
	t.Helper()
	ctx := within(t, 4*patience)
	for {
		list, err := g.Client.DatabaseRequests("").List(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		waiting := 0
		for i := range list.Items {
			if !stage.IsSettled(&list.Items[i]) {
				waiting++
			}
		}
		if waiting == 0 && len(list.Items) >= least {
			return
		}
		select {
		case <-ctx.Done():
			require.Fail(t, "waited in vain", "%d of %d are not settled", waiting, len(list.Items))
		case <-time.After(2 * time.Second):
		}
	}
}

// recorded waits until Temporal has heard of the end of all runs: the status is
// written first, and visibility lags behind.
func (g *ground) recorded(t *testing.T, least int64) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		running, err := g.Workflows.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Query: "ExecutionStatus = 'Running'"})
		if err != nil {
			return err
		}
		all, err := g.Workflows.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{})
		if err != nil {
			return err
		}
		if running.GetCount() > 0 || all.GetCount() < least {
			return fmt.Errorf("%d of %d run", running.GetCount(), all.GetCount())
		}
		return nil
	})
	// Events are sent in the background.
	last := -1
	eventually(t, func(ctx context.Context) error {
		s, err := g.Client.Kube.CoreV1().Events("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(s.Items) != last {
			last = len(s.Items)
			time.Sleep(time.Second)
			return fmt.Errorf("events still come")
		}
		return nil
	})
}
