package k8s_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s"
)

type counter struct {
	http.RoundTripper
	mu    sync.Mutex
	calls []string
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Get("watch") == "" {
		c.mu.Lock()
		c.calls = append(c.calls, r.Method+" "+r.Header.Get("User-Agent"))
		c.mu.Unlock()
	}
	return c.RoundTripper.RoundTrip(r)
}

func (c *counter) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	calls := c.calls
	c.calls = nil
	return calls
}

// The budget of a request is seven calls, and this is what they are.
func TestCallsOfARequest(t *testing.T) {
	admin, kube := cluster(t)
	ctx := ctxFor(t)
	var count counter
	cfg := rest.CopyConfig(kube.Config)
	cfg.Wrap(func(rt http.RoundTripper) http.RoundTripper { count.RoundTripper = rt; return &count })
	c, err := k8s.New(cfg)
	require.NoError(t, err)
	w := runWatch(t, c, k8s.WatchOptions{})
	soon(t, 10*time.Second, "synced", w.Synced)
	obj := created(t, admin, request(namespace(t, admin), "counted"))
	ref := api.SecretRef{Namespace: obj.Namespace, Name: "seed"}
	_, err = admin.Kube.CoreV1().Secrets(ref.Namespace).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "seed"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	soon(t, 5*time.Second, "seen", func() bool {
		for _, r := range w.Requests() {
			if r.UID == obj.UID {
				return true
			}
		}
		return false
	})
	req := k8s.Snapshot(obj)
	count.take()

	_, err = c.LookOutputs(ctx, req)
	require.NoError(t, err)
	seed, err := c.ReadSecret(ctx, ref)
	require.NoError(t, err)
	_, err = w.Catalog().Match("mysql", "s", "db", 0)
	require.NoError(t, err)
	_, err = c.ApplySecret(ctx, req, sample)
	require.NoError(t, err)
	_, err = c.ApplyService(ctx, req, "db.example.com", 3306)
	require.NoError(t, err)
	require.NoError(t, c.ApplyStatus(ctx, req, ready(req)))
	require.NoError(t, c.DeleteSecret(ctx, ref, string(seed.UID), seed.ResourceVersion))
	require.Equal(t, []string{
		"GET seedmend", "GET seedmend", "GET seedmend",
		"PATCH seedmend", "PATCH seedmend", "PATCH seedmend", "DELETE seedmend",
	}, count.take())
}
