package k8s_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
	"github.com/seedmend/seedmend/tests/lab"
)

// theLab is made by the first test that needs a real API server.
var theLab = sync.OnceValues(func() (*lab.Lab, error) { return lab.New(context.Background(), lab.Options{}) })

var labUsed atomic.Bool

func TestMain(m *testing.M) {
	code := m.Run()
	if labUsed.Load() {
		if l, err := theLab(); err == nil {
			if err := l.Close(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 1
			}
		}
	}
	os.Exit(code)
}

// theCluster is shared by all tests that neither stop it nor change its CRDs.
var theCluster = sync.OnceValues(func() (*lab.Kube, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	kube, err := newKube(ctx, limited)
	if err != nil {
		return nil, err
	}
	return kube, k8s.InstallCRDs(ctx, kube.Config)
})

func newKube(ctx context.Context, users ...lab.User) (*lab.Kube, error) {
	labUsed.Store(true)
	l, err := theLab()
	if err != nil {
		return nil, err
	}
	return l.StartKube(ctx, lab.KubeOptions{Users: users})
}

// ownKube starts a server for one test, without CRDs.
func ownKube(t *testing.T) *lab.Kube {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real API server")
	}
	kube, err := newKube(ctxFor(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = kube.Kill(); _ = kube.Etcd.Kill() })
	return kube
}

// cluster is a client of the shared server.
func cluster(t *testing.T) (*k8s.Client, *lab.Kube) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real API server")
	}
	kube, err := theCluster()
	require.NoError(t, err)
	return client(t, kube), kube
}

func client(t *testing.T, kube *lab.Kube) *k8s.Client {
	t.Helper()
	c, err := k8s.New(kube.Config)
	require.NoError(t, err)
	return c
}

func ctxFor(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// namespace makes a namespace for one test.
func namespace(t *testing.T, c *k8s.Client) string {
	t.Helper()
	ns, err := c.Kube.CoreV1().Namespaces().Create(ctxFor(t),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name())[:min(len(t.Name()), 40)]) + "-"}},
		metav1.CreateOptions{})
	require.NoError(t, err)
	return ns.Name
}

// request is a sound DatabaseRequest.
func request(ns, name string, change ...func(*v1alpha1.DatabaseRequest)) *v1alpha1.DatabaseRequest {
	obj := &v1alpha1.DatabaseRequest{
		TypeMeta:   metav1.TypeMeta{APIVersion: "crd.lagoon.sh/v1alpha1", Kind: "DatabaseRequest"},
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		Spec:       v1alpha1.DatabaseRequestSpec{Name: "mariadb", Selector: "development", Type: "mariadb"},
	}
	for _, c := range change {
		c(obj)
	}
	return obj
}

// created makes a request on the server.
func created(t *testing.T, c *k8s.Client, obj *v1alpha1.DatabaseRequest) *v1alpha1.DatabaseRequest {
	t.Helper()
	out, err := c.DatabaseRequests(obj.Namespace).Create(ctxFor(t), obj, metav1.CreateOptions{})
	require.NoError(t, err)
	return out
}

// live reads a request from the server.
func live(t *testing.T, c *k8s.Client, req api.Request) *v1alpha1.DatabaseRequest {
	t.Helper()
	out, err := c.DatabaseRequests(req.Namespace).Get(ctxFor(t), req.Name, metav1.GetOptions{})
	require.NoError(t, err)
	return out
}

func failureOf(t *testing.T, err error) *api.Failure {
	t.Helper()
	var f *api.Failure
	require.ErrorAs(t, err, &f)
	return f
}

func ptr[T any](v T) *T { return &v }

// soon waits for something that has no event to wait for.
func soon(t *testing.T, within time.Duration, what string, ok func() bool) {
	t.Helper()
	require.Eventually(t, ok, within, 20*time.Millisecond, what)
}
