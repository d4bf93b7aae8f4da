package k8s

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterUID tells clusters apart: it is the UID of the namespace kube-system,
// asked for once. A new API server makes that namespace a moment after it
// starts to answer, so it is waited for until the context ends.
func (c *Client) ClusterUID(ctx context.Context) (string, error) {
	if known := c.clusterUID.Load(); known != nil {
		return *known, nil
	}
	what := call{"get", "namespaces", "", metav1.NamespaceSystem}
	for {
		ns, err := c.Kube.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
		if err == nil {
			uid := string(ns.UID)
			c.clusterUID.Store(&uid)
			return uid, nil
		}
		if !apierrors.IsNotFound(err) {
			return "", what.failure(err)
		}
		select {
		case <-ctx.Done():
			return "", what.failure(err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
