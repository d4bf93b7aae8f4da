package k8s_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
	"github.com/seedmend/seedmend/tests/lab"
)

func installOlder(t *testing.T, kube *lab.Kube) {
	t.Helper()
	d, err := dynamic.NewForConfig(kube.Config)
	require.NoError(t, err)
	file, err := os.Open("testdata/older-crds.yaml")
	require.NoError(t, err)
	defer file.Close()
	docs := yaml.NewYAMLOrJSONDecoder(file, 4096)
	for {
		crd := &unstructured.Unstructured{}
		if docs.Decode(&crd.Object) != nil {
			break
		}
		_, err := d.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}).
			Create(ctxFor(t), crd, metav1.CreateOptions{})
		require.NoError(t, err)
	}
}

// A cluster with the dbaas-controller's CRDs: no scope, no CEL, conditions as a
// plain list, no older provider. Then the CRDs are brought up to date in place.
func TestOlderCRDs(t *testing.T) {
	t.Parallel()
	kube := ownKube(t)
	c := client(t, kube)
	var s seen
	opts := s.options()
	opts.MySQLNamespaces = []string{"lagoon"}
	w := runWatch(t, c, opts)
	installOlder(t, kube)
	soon(t, 20*time.Second, "synced without DatabaseMySQLProviders", w.Synced)

	ctx := ctxFor(t)
	_, err := c.RelationalDatabaseProviders().Create(ctx, &v1alpha1.RelationalDatabaseProvider{
		ObjectMeta: metav1.ObjectMeta{Name: "p"},
		Spec: v1alpha1.RelationalDatabaseProviderSpec{Type: "mysql", Selector: "development", Connections: []v1alpha1.Connection{{
			Name: "primary", Hostname: "db.example.com", Port: 3306, Username: "root", PasswordSecretRef: v1alpha1.SecretReference{Name: "s", Namespace: "lagoon"},
		}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	soon(t, 10*time.Second, "matched", func() bool {
		found, err := w.Catalog().Match("mariadb", "development", "DB.example.com.", 0)
		return err == nil && len(found) == 1
	})
	catalog, err := w.Catalog().Live(ctx)
	require.NoError(t, err)
	found, err := catalog.Match("mariadb", "development", "db.example.com", 3306)
	require.NoError(t, err)
	require.Len(t, found, 1)

	ns := namespace(t, c)
	obj := created(t, c, request(ns, "older", func(r *v1alpha1.DatabaseRequest) { r.Spec.DropDatabaseOnDelete = ptr(false) }))
	soon(t, 10*time.Second, "seen", func() bool { return s.count("changed older")+s.count("initial older") > 0 })
	req := k8s.Snapshot(obj)
	require.Empty(t, req.Invalid)
	use := func() {
		t.Helper()
		everyWrite(t, c, obj)
		long := live(t, c, req).Status.Conditions[0].LastTransitionTime
		require.NoError(t, c.ApplyStatus(ctx, req, ready(req)))
		require.Equal(t, long, live(t, c, req).Status.Conditions[0].LastTransitionTime)
		require.NoError(t, c.ApplyStatus(ctx, req, failed(req)))
		now := live(t, c, req)
		require.Len(t, now.Status.Conditions, 2)
		require.True(t, k8s.Terminal(now))
		require.False(t, *now.Spec.DropDatabaseOnDelete)
		require.NoError(t, c.ApplyStatus(ctx, req, ready(req)))
		now = live(t, c, req)
		require.Len(t, now.Status.Conditions, 1)
		require.True(t, meta.IsStatusConditionTrue(now.Status.Conditions, "Ready"))
		require.Equal(t, int64(1), now.Generation)
	}
	use()

	// Neither selector nor scope: the older CRD lets it pass, we do not.
	bare := created(t, c, request(ns, "bare", func(r *v1alpha1.DatabaseRequest) { r.Spec.Scope, r.Spec.Selector = "development", "" }))
	require.Contains(t, k8s.Snapshot(bare).Invalid, "Neither spec.selector nor spec.scope")
	bad := created(t, c, request(ns, "bad", func(r *v1alpha1.DatabaseRequest) { r.Spec.Name = "Not_A_Service" }))
	require.Contains(t, k8s.Snapshot(bad).Invalid, "Not_A_Service")
	require.NoError(t, c.ApplyStatus(ctx, k8s.Snapshot(bad), failed(k8s.Snapshot(bad))))

	require.NoError(t, k8s.InstallCRDs(ctx, kube.Config))
	soon(t, 10*time.Second, "the new schema is in force", func() bool {
		_, err := c.DatabaseRequests(ns).Create(ctx, request(ns, "probe", func(r *v1alpha1.DatabaseRequest) { r.Spec.Selector = "" }), metav1.CreateOptions{DryRun: []string{"All"}})
		return err != nil
	})
	use()
	// One that the new schema would refuse can still be told that it is invalid.
	require.NoError(t, c.ApplyStatus(ctx, k8s.Snapshot(bad), api.Status{ObservedGeneration: 1,
		Conditions: []api.Condition{condition("Ready", "False", api.RequestInvalid)}}))
}
