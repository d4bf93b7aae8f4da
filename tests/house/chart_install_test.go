package house

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/seedmend/seedmend/tests/lab"
)

var crdKind = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// TestChartInstalls installs, upgrades and removes the chart on a real API
// server that has one of the CRDs from elsewhere.
func TestChartInstalls(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute) // the API server may have to be compiled
	defer cancel()
	l, err := lab.New(ctx, lab.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	kube, err := l.StartKube(ctx, lab.KubeOptions{})
	require.NoError(t, err)
	objects, err := dynamic.NewForConfig(kube.Config)
	require.NoError(t, err)

	const foreign = "databaserequests.crd.lagoon.sh"
	before, err := objects.Resource(crdKind).Create(ctx, readCRD(t, "crd.lagoon.sh_databaserequests.yaml"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, foreign, before.GetName())

	release := func(args ...string) {
		helm(t, append(args, "--kubeconfig", kube.Kubeconfig, "--namespace", releaseNamespace)...)
	}
	release("install", releaseName, "k8s/chart", "--create-namespace")
	release("upgrade", releaseName, "k8s/chart", "--set", "replicas=3")

	mine := requireRights(ctx, t, kube.Config)
	_, err = mine.CoreV1().Secrets("").List(ctx, metav1.ListOptions{})
	require.True(t, apierrors.IsForbidden(err), "%v", err)

	release("uninstall", releaseName)
	after, err := objects.Resource(crdKind).Get(ctx, foreign, metav1.GetOptions{})
	require.NoError(t, err)
	require.Empty(t, after.GetLabels(), "a CRD of somebody else was changed")
	require.Equal(t, before.Object["spec"], after.Object["spec"])
	for _, name := range []string{"relationaldatabaseproviders.crd.lagoon.sh", "databasemysqlproviders.crd.lagoon.sh", "replicationgroups.seedmend.dev"} {
		_, err = objects.Resource(crdKind).Get(ctx, name, metav1.GetOptions{})
		require.NoError(t, err, "a CRD went with the release, and every resource of it")
	}
}

// requireRights asks the API server what the chart's service account may do.
func requireRights(ctx context.Context, t *testing.T, admin *rest.Config) kubernetes.Interface {
	t.Helper()
	cfg := rest.CopyConfig(admin)
	cfg.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + releaseNamespace + ":" + releaseName + "-seedmend",
		Groups:   []string{"system:serviceaccounts", "system:authenticated"},
	}
	client, err := kubernetes.NewForConfig(cfg)
	require.NoError(t, err)
	const tenant = "project"
	for _, c := range []struct {
		want bool
		ask  authv1.ResourceAttributes
	}{
		{true, authv1.ResourceAttributes{Verb: "watch", Group: "crd.lagoon.sh", Resource: "databaserequests"}},
		{true, authv1.ResourceAttributes{Verb: "patch", Group: "crd.lagoon.sh", Resource: "databaserequests", Subresource: "status", Namespace: tenant}},
		{true, authv1.ResourceAttributes{Verb: "watch", Group: "seedmend.dev", Resource: "replicationgroups"}},
		{true, authv1.ResourceAttributes{Verb: "patch", Group: "seedmend.dev", Resource: "replicationgroups", Subresource: "status", Namespace: tenant}},
		{true, authv1.ResourceAttributes{Verb: "watch", Group: "k8s.mariadb.com", Resource: "mariadbs"}},
		{true, authv1.ResourceAttributes{Verb: "get", Resource: "secrets", Namespace: tenant}},
		{true, authv1.ResourceAttributes{Verb: "patch", Resource: "services", Namespace: tenant}},
		{true, authv1.ResourceAttributes{Verb: "create", Group: "discovery.k8s.io", Resource: "endpointslices", Namespace: tenant}},
		{true, authv1.ResourceAttributes{Verb: "get", Resource: "namespaces", Namespace: "kube-system", Name: "kube-system"}},
		{true, authv1.ResourceAttributes{Verb: "update", Group: "coordination.k8s.io", Resource: "leases", Namespace: releaseNamespace, Name: "seedmend-watcher"}},

		{false, authv1.ResourceAttributes{Verb: "list", Resource: "secrets", Namespace: tenant}},
		{false, authv1.ResourceAttributes{Verb: "watch", Resource: "secrets", Namespace: releaseNamespace}},
		{false, authv1.ResourceAttributes{Verb: "patch", Group: "crd.lagoon.sh", Resource: "databaserequests", Namespace: tenant}},
		{false, authv1.ResourceAttributes{Verb: "patch", Group: "seedmend.dev", Resource: "replicationgroups", Namespace: tenant}},
		{false, authv1.ResourceAttributes{Verb: "patch", Group: "k8s.mariadb.com", Resource: "mariadbs", Namespace: tenant}},
		{false, authv1.ResourceAttributes{Verb: "patch", Group: "k8s.mariadb.com", Resource: "mariadbs", Subresource: "status", Namespace: tenant}},
		{false, authv1.ResourceAttributes{Verb: "get", Resource: "namespaces", Namespace: tenant, Name: tenant}},
		{false, authv1.ResourceAttributes{Verb: "update", Group: "coordination.k8s.io", Resource: "leases", Namespace: releaseNamespace, Name: "another"}},
		{false, authv1.ResourceAttributes{Verb: "create", Group: "coordination.k8s.io", Resource: "leases", Namespace: tenant}},
		{false, authv1.ResourceAttributes{Verb: "create", Resource: "pods", Namespace: releaseNamespace}},
	} {
		review := &authv1.SelfSubjectAccessReview{Spec: authv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &c.ask}}
		require.EventuallyWithT(t, func(t *assert.CollectT) {
			got, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
			require.NoError(t, err)
			require.Equal(t, c.want, got.Status.Allowed, "%+v", c.ask)
		}, 20*time.Second, 100*time.Millisecond) // the authorizer learns of roles through watches
	}
	return client
}

func readCRD(t *testing.T, file string) *unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "k8s/crds", file))
	require.NoError(t, err)
	crd := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal(text, &crd.Object))
	return crd
}
