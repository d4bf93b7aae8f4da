package k8s_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/seedmend/seedmend/k8s/v1alpha1"
)

func TestTheAPIServerValidatesRequests(t *testing.T) {
	c, _ := cluster(t)
	ns := namespace(t, c)
	with := func(change func(*v1alpha1.DatabaseRequestSpec)) func(*v1alpha1.DatabaseRequest) {
		return func(r *v1alpha1.DatabaseRequest) { change(&r.Spec) }
	}
	for sentence, test := range map[string]struct {
		change  func(*v1alpha1.DatabaseRequestSpec)
		refusal string
	}{
		"selector alone":              {func(*v1alpha1.DatabaseRequestSpec) {}, ""},
		"scope alone":                 {func(s *v1alpha1.DatabaseRequestSpec) { s.Selector, s.Scope = "", "development" }, ""},
		"both":                        {func(s *v1alpha1.DatabaseRequestSpec) { s.Scope = "development" }, "exactly one of selector and scope"},
		"neither":                     {func(s *v1alpha1.DatabaseRequestSpec) { s.Selector = "" }, "exactly one of selector and scope"},
		"mongodb is for us to refuse": {func(s *v1alpha1.DatabaseRequestSpec) { s.Type = "mongodb" }, ""},
		"an unheard-of type":          {func(s *v1alpha1.DatabaseRequestSpec) { s.Type = "oracle" }, "spec.type"},
		"a name that no Service has":  {func(s *v1alpha1.DatabaseRequestSpec) { s.Name = "Maria_DB" }, "spec.name"},
		"a name that is too long": {func(s *v1alpha1.DatabaseRequestSpec) {
			s.Name = "a123456789a123456789a123456789a123456789a123456789a123456789a123"
		}, "spec.name"},
		"a seed without a name":        {func(s *v1alpha1.DatabaseRequestSpec) { s.Seed = &v1alpha1.SecretReference{} }, "spec.seed.name"},
		"an additional user of a kind": {func(s *v1alpha1.DatabaseRequestSpec) { s.AdditionalUsers = []v1alpha1.AdditionalUser{{Name: "ro"}} }, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			obj := request(ns, "", with(test.change))
			obj.GenerateName = "r-"
			made, err := c.DatabaseRequests(ns).Create(ctxFor(t), obj, metav1.CreateOptions{})
			if test.refusal == "" {
				require.NoError(t, err)
				require.True(t, *made.Spec.DropDatabaseOnDelete, "the default")
				return
			}
			require.True(t, apierrors.IsInvalid(err), "%v", err)
			require.ErrorContains(t, err, test.refusal)
		})
	}
}

func TestTheAPIServerValidatesProviders(t *testing.T) {
	c, _ := cluster(t)
	ns := namespace(t, c)
	provider := func(change func(*v1alpha1.RelationalDatabaseProviderSpec)) error {
		obj := &v1alpha1.RelationalDatabaseProvider{ObjectMeta: metav1.ObjectMeta{GenerateName: "validated-"}}
		obj.Spec = v1alpha1.RelationalDatabaseProviderSpec{Type: "mysql", Selector: "s", Connections: []v1alpha1.Connection{{
			Name: "a", Hostname: "db", Port: 3306, Username: "root", PasswordSecretRef: v1alpha1.SecretReference{Name: "s", Namespace: "n"},
		}}}
		change(&obj.Spec)
		made, err := c.RelationalDatabaseProviders().Create(ctxFor(t), obj, metav1.CreateOptions{})
		if err == nil {
			require.True(t, *made.Spec.Connections[0].Enabled)
			require.NoError(t, c.RelationalDatabaseProviders().Delete(ctxFor(t), made.Name, metav1.DeleteOptions{}))
		}
		return err
	}
	type spec = v1alpha1.RelationalDatabaseProviderSpec
	require.NoError(t, provider(func(*spec) {}))
	require.NoError(t, provider(func(s *spec) { s.Connections[0].Port = 0 }), "the default port")
	require.ErrorContains(t, provider(func(s *spec) { s.Scope = "s" }), "exactly one")
	require.ErrorContains(t, provider(func(s *spec) { s.Selector = "" }), "exactly one")
	require.ErrorContains(t, provider(func(s *spec) { s.Type = "mariadb" }), "spec.type")
	require.ErrorContains(t, provider(func(s *spec) { s.Connections[0].Port = 65536 }), "port")
	require.ErrorContains(t, provider(func(s *spec) { s.Connections[0].Port = -1 }), "port")
	require.ErrorContains(t, provider(func(s *spec) { s.Connections[0].PasswordSecretRef.Namespace = "" }), "passwordSecretRef needs a namespace")
	require.ErrorContains(t, provider(func(s *spec) { s.Connections = append(s.Connections, s.Connections[0]) }), "Duplicate")

	older := &v1alpha1.DatabaseMySQLProvider{ObjectMeta: metav1.ObjectMeta{Name: "older"}}
	older.Spec = v1alpha1.DatabaseMySQLProviderSpec{Scope: "s", Connections: []v1alpha1.Connection{{
		Name: "a", Hostname: "db", Port: 3306, Username: "root", PasswordSecretRef: v1alpha1.SecretReference{Name: "s"},
	}}}
	_, err := c.DatabaseMySQLProviders(ns).Create(ctxFor(t), older, metav1.CreateOptions{})
	require.NoError(t, err)
}

// The columns of kubectl get come from the server.
func TestPrinterColumns(t *testing.T) {
	_, kube := cluster(t)
	d, err := dynamic.NewForConfig(kube.Config)
	require.NoError(t, err)
	crd, err := d.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}).
		Get(ctxFor(t), "databaserequests.crd.lagoon.sh", metav1.GetOptions{})
	require.NoError(t, err)
	versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	require.NoError(t, err)
	var columns []string
	for _, each := range versions[0].(map[string]any)["additionalPrinterColumns"].([]any) {
		if each.(map[string]any)["priority"] == nil {
			columns = append(columns, each.(map[string]any)["name"].(string))
		}
	}
	require.Equal(t, []string{"Ready", "Reason", "Provider", "Database", "Age"}, columns)
}

// F57: no write of the whole object, and none of ours, turns false into true.
func TestFalseStaysFalse(t *testing.T) {
	c, _ := cluster(t)
	obj := created(t, c, request(namespace(t, c), "keep", func(r *v1alpha1.DatabaseRequest) {
		r.Spec.DropDatabaseOnDelete = ptr(false)
	}))
	everyWrite(t, c, obj)
	obj, err := c.DatabaseRequests(obj.Namespace).Get(ctxFor(t), obj.Name, metav1.GetOptions{})
	require.NoError(t, err)
	require.False(t, *obj.Spec.DropDatabaseOnDelete)
	obj.Finalizers = append(obj.Finalizers, "example.com/whole-object-write")
	obj, err = c.DatabaseRequests(obj.Namespace).Update(ctxFor(t), obj, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.False(t, *obj.Spec.DropDatabaseOnDelete)
	require.Equal(t, int64(1), obj.Generation, "the spec was never written")

	raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	require.NoError(t, err)
	value, found, err := unstructured.NestedBool(raw, "spec", "dropDatabaseOnDelete")
	require.NoError(t, err)
	require.True(t, found)
	require.False(t, value)
}
