package k8s_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s"
	"github.com/seedmend/seedmend/k8s/mendv1alpha1"
	"github.com/seedmend/seedmend/tests/operator"
)

// heard is what a watch told of groups.
type heard struct {
	mu    sync.Mutex
	calls []api.Group
}

func (h *heard) hear(g api.Group) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, g)
}

// of is what was told of the groups of a name, in turn.
func (h *heard) of(name string) []api.Group {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(h.calls), func(g api.Group) bool { return g.Name != name })
}

func (h *heard) last(name string) api.Group {
	told := h.of(name)
	if len(told) == 0 {
		return api.Group{}
	}
	return told[len(told)-1]
}

// createdMariaDB makes a MariaDB and its status, as a user and the operator do.
func createdMariaDB(t *testing.T, d dynamic.Interface, ns, name, over string) *unstructured.Unstructured {
	t.Helper()
	obj := mariaDB(t, over)
	metadata := map[string]any{"namespace": ns, "name": name}
	if annotations := obj.GetAnnotations(); annotations != nil {
		metadata["annotations"] = obj.Object["metadata"].(map[string]any)["annotations"]
	}
	obj.Object["metadata"] = metadata
	status := obj.Object["status"]
	made, err := d.Resource(operator.Resource).Namespace(ns).Create(ctxFor(t), obj, metav1.CreateOptions{})
	require.NoError(t, err)
	made.Object["status"] = status
	made, err = d.Resource(operator.Resource).Namespace(ns).UpdateStatus(ctxFor(t), made, metav1.UpdateOptions{})
	require.NoError(t, err)
	return made
}

// A watch that is there before either kind is, on a server of its own.
func TestWatchOfGroups(t *testing.T) {
	t.Parallel()
	kube := ownKube(t)
	c := client(t, kube)
	c.ClusterDomain = "example.org"
	d, err := dynamic.NewForConfig(kube.Config)
	require.NoError(t, err)
	ctx := ctxFor(t)
	shop := api.GroupRef{Kind: api.KindMariaDB, Namespace: "default", Name: "shop"}

	var h heard
	w := runWatch(t, c, k8s.WatchOptions{ProvidersOnly: true, OnGroup: h.hear})
	time.Sleep(500 * time.Millisecond) // long enough to have found neither
	require.Empty(t, w.Groups())
	_, err = c.Group(ctx, api.GroupRef{Kind: api.KindReplicationGroup, Namespace: "default", Name: "g"})
	require.ErrorIs(t, err, k8s.ErrGone, "no such kind")
	require.NoError(t, k8s.InstallCRDs(ctx, kube.Config))
	soon(t, 20*time.Second, "synced without MariaDBs", w.Synced)
	_, err = c.Group(ctx, shop)
	require.ErrorIs(t, err, k8s.ErrGone, "no such kind")

	ns := namespace(t, c)
	shop.Namespace = ns
	made := createdGroup(t, c, group(ns, "plain"))
	soon(t, 20*time.Second, "handled soon after its CRD", func() bool { return len(h.of("plain")) == 1 })
	require.Equal(t, k8s.GroupOf(made), h.last("plain"))
	require.Equal(t, []api.Group{h.last("plain")}, w.Groups())

	require.NoError(t, operator.Install(ctx, kube.Config, operator.Permissive))
	createdMariaDB(t, d, ns, "cart", `{spec: {replication: {enabled: false}}}`)
	createdMariaDB(t, d, ns, "odd", `{spec: {replicas: [many], replication: {enabled: [yes]}}, status: [1]}`)
	createdMariaDB(t, d, ns, "shop", ``)
	soon(t, 20*time.Second, "the operator's kind came late", func() bool { return len(h.last("shop").Replicas) == 2 && len(h.of("odd")) > 0 })
	require.Equal(t, "shop-1.shop-internal."+ns+".svc.example.org", h.last("shop").Primary.Host)
	require.Equal(t, "spec.replication.enabled is not true or false.", h.last("odd").Invalid)
	require.Empty(t, h.of("cart"), "it is no group")
	soon(t, 5*time.Second, "synced", w.Synced)

	live, err := c.Group(ctx, shop)
	require.NoError(t, err)
	require.Equal(t, h.last("shop"), live, "the cache has all that a live read has")
	_, err = c.Group(ctx, api.GroupRef{Kind: api.KindMariaDB, Namespace: ns, Name: "cart"})
	require.ErrorIs(t, err, k8s.ErrGone, "it has no replication")

	// What concerns no replica is not told; what does, is.
	patch := func(text, sub string) {
		t.Helper()
		var on []string
		if sub != "" {
			on = []string{sub}
		}
		_, err := d.Resource(operator.Resource).Namespace(ns).Patch(ctx, "shop", types.MergePatchType, []byte(text), metav1.PatchOptions{}, on...)
		require.NoError(t, err)
	}
	before := len(h.of("shop"))
	patch(`{"status": {"conditions": [{"type": "Ready", "status": "True"}]}}`, "status")
	patch(`{"status": {"replication": {"replicas": {"shop-0": {"lastIOErrno": 1045, "lastErrorTransitionTime": "2026-11-30T20:00:00Z"}}}}}`, "status")
	soon(t, 5*time.Second, "the error is told", func() bool {
		r := h.last("shop").Replicas[0].Reported
		return r != nil && r.IOErrno == 1045 && !r.Since.IsZero()
	})
	require.Len(t, h.of("shop"), before+1)
	patch(`{"metadata": {"annotations": {"seedmend.dev/reconnect-on-auth-error": "true", "other": "x"}}}`, "")
	soon(t, 5*time.Second, "the opt-in is told", func() bool { return h.last("shop").OptedIn })
	patch(`{"spec": {"replication": {"enabled": false}}}`, "")
	soon(t, 5*time.Second, "a group no more", func() bool {
		return !slices.ContainsFunc(w.Groups(), func(g api.Group) bool { return g.Name == "shop" })
	})
	require.True(t, h.last("shop").OptedIn, "and nothing is told of it")

	// The operator goes, with its kind, and comes back.
	deleteCRD(t, d, "mariadbs.k8s.mariadb.com")
	soon(t, 10*time.Second, "none is left", func() bool { return len(w.Groups()) == 1 })
	require.True(t, w.Synced())
	require.NoError(t, operator.Install(ctx, kube.Config, operator.Permissive))
	createdMariaDB(t, d, ns, "again", ``)
	soon(t, 20*time.Second, "handled again", func() bool { return len(h.last("again").Replicas) == 2 })
}

// Upstream's definition drops reconnectOnAuthError; the annotation is left.
func TestADefinitionThatDropsTheOptIn(t *testing.T) {
	c, kube := cluster(t)
	ctx := ctxFor(t)
	require.NoError(t, operator.Install(ctx, kube.Config, operator.Pruning))
	d, err := dynamic.NewForConfig(kube.Config)
	require.NoError(t, err)
	ns := namespace(t, c)
	const recovery = `spec: {replication: {replica: {recovery: {enabled: true, reconnectOnAuthError: true, errorDurationThreshold: 1m}}}}`
	made := createdMariaDB(t, d, ns, "field", `{`+recovery+`}`)
	_, kept, err := unstructured.NestedFieldNoCopy(made.Object, "spec", "replication", "replica", "recovery", "reconnectOnAuthError")
	require.NoError(t, err)
	require.False(t, kept, "the server dropped it")
	createdMariaDB(t, d, ns, "annotation", `{metadata: {annotations: {seedmend.dev/reconnect-on-auth-error: "true", seedmend.dev/error-duration-threshold: 2s}}, `+recovery+`}`)

	read := func(name string) api.Group {
		g, err := c.Group(ctx, api.GroupRef{Kind: api.KindMariaDB, Namespace: ns, Name: name})
		require.NoError(t, err)
		require.Empty(t, g.Invalid)
		require.Len(t, g.Replicas, 2)
		return g
	}
	field, annotation := read("field"), read("annotation")
	require.False(t, field.OptedIn)
	require.Equal(t, time.Minute, field.Threshold)
	require.Equal(t, time.Minute, field.Rebuild)
	require.True(t, annotation.OptedIn)
	require.Equal(t, 2*time.Second, annotation.Threshold)
	require.Equal(t, time.Minute, annotation.Rebuild)
}

// The columns of kubectl get.
func TestPrinterColumnsOfGroups(t *testing.T) {
	c, kube := cluster(t)
	ns := namespace(t, c)
	g := k8s.GroupOf(createdGroup(t, c, group(ns, "shown", func(g *mendv1alpha1.ReplicationGroup) { g.Spec.Recovery.ReconnectOnAuthError = true })))
	require.NoError(t, c.UpdateReplicas(ctxFor(t), g, entries(stuck, "r1")))
	table := kubectlTable(t, kube.Config, "/apis/seedmend.dev/v1alpha1/namespaces/"+ns+"/replicationgroups")
	var columns []string
	for _, column := range table.ColumnDefinitions {
		name := column.Name
		if column.Priority > 0 {
			name += " (wide)"
		}
		columns = append(columns, name)
	}
	require.Equal(t, "Name, Primary, Healthy, Reason, Age, Repairs (wide), Threshold (wide), Message (wide)", strings.Join(columns, ", "))
	cells := table.Rows[0].Cells
	require.Equal(t, []any{"shown", "db-0.example.com", "False", "RepairOff"}, cells[:4])
	require.Equal(t, []any{true, "5m", "replica r1: stuck"}, cells[5:])
}

// kubectlTable asks as kubectl does.
func kubectlTable(t *testing.T, cfg *rest.Config, path string) metav1.Table {
	t.Helper()
	kube, err := kubernetes.NewForConfig(cfg)
	require.NoError(t, err)
	text, err := kube.Discovery().RESTClient().Get().AbsPath(path).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(ctxFor(t))
	require.NoError(t, err)
	var table metav1.Table
	require.NoError(t, json.Unmarshal(text, &table))
	return table
}
