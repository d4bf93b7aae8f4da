package k8s

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/seedmend/seedmend/api"
)

// ReadSecret gets a Secret from the API server, never from a cache: nothing in
// seedmend lists or watches Secrets. ErrNotFound where there is none. What it
// returns must not be printed.
func (c *Client) ReadSecret(ctx context.Context, ref api.SecretRef) (*corev1.Secret, error) {
	secret, err := c.Kube.CoreV1().Secrets(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, call{"get", "secrets", ref.Namespace, ref.Name}.failure(err)
	}
	return secret, nil
}

// DeleteSecret deletes a Secret if it still is the one that was read, by its
// UID and resourceVersion. One that is gone already is fine; one that was
// edited or made anew meanwhile stays, with ErrChanged.
func (c *Client) DeleteSecret(ctx context.Context, ref api.SecretRef, uid, resourceVersion string) error {
	id := types.UID(uid)
	err := c.Kube.CoreV1().Secrets(ref.Namespace).Delete(ctx, ref.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &id, ResourceVersion: &resourceVersion},
	})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsConflict(err):
		return ErrChanged
	}
	return call{"delete", "secrets", ref.Namespace, ref.Name}.failure(err)
}
