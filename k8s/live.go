package k8s

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
)

// Request reads a request from the API server, and tells whether its present
// generation is done with. ErrGone where there is none.
func (c *Client) Request(ctx context.Context, namespace, name string) (req api.Request, terminal bool, err error) {
	obj, err := c.DatabaseRequests(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return api.Request{}, false, ErrGone
	}
	if err != nil {
		return api.Request{}, false, call{"get", "databaserequests", namespace, name}.failure(err)
	}
	return Snapshot(obj), Terminal(obj), nil
}

// Lookup is Request from the cache.
func (w *Watch) Lookup(namespace, name string) (req api.Request, terminal, found bool) {
	obj := w.request(namespace, name)
	if obj == nil {
		return api.Request{}, false, false
	}
	return Snapshot(obj), Terminal(obj), true
}

// Held is what an output Secret holds for a service name.
func Held(secret *corev1.Secret, serviceName string) OutputSecret {
	return outputFrom(secret.Data, serviceName)
}
