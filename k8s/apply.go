package k8s

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
)

// neverVersion is a resourceVersion that no object has: etcd counts from 1, and
// the first write makes it 2. An apply that names it creates, or conflicts.
const neverVersion = "1"

// applier is the part of client-go's typed clients that outputs need.
type applier[T metav1.Object, A any] interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error)
	Apply(ctx context.Context, config A, opts metav1.ApplyOptions) (T, error)
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
}

// output is one object that a request gets.
type output[T metav1.Object, A any] struct {
	client applier[T, A]
	call   call
	req    api.Request
	// config is what to apply; a resourceVersion is added to it.
	config func(how Ownership, version string) A
	judge  func(T) (Ownership, error)
	// mend deals with an object of ours that refuses the change, or nil.
	mend func(ctx context.Context, old T, err error) (T, error)
}

// apply writes the object in one call where the name is free, and in three
// where it is not. It says what it found: Absent, Ours or OptedIn.
func (o output[T, A]) apply(ctx context.Context) (T, Ownership, error) {
	var none T
	created, err := o.write(ctx, Ours, neverVersion)
	if err == nil {
		return created, Absent, nil
	}
	if apierrors.IsNotFound(err) { // no such namespace
		return none, "", ErrGone
	}
	if !apierrors.IsConflict(err) {
		return none, "", o.call.failure(err)
	}
	old, err := o.client.Get(ctx, o.call.name, metav1.GetOptions{})
	if err != nil {
		if apierrors.IsNotFound(err) {
			return none, "", api.Failf(api.ClusterConflict, "The object was deleted while it was written (%s).", o.call)
		}
		return none, "", o.call.failure(err)
	}
	how, err := o.judge(old)
	if err != nil {
		return none, "", err
	}
	if how == Foreign {
		return none, "", taken(kindOf[o.call.resource], o.call.name, old)
	}
	// The version that was judged is the version that is written.
	written, err := o.write(ctx, how, old.GetResourceVersion())
	if err != nil && o.mend != nil && how == Ours {
		written, err = o.mend(ctx, old, err)
	}
	if err != nil {
		return none, "", o.call.failure(err)
	}
	return written, how, nil
}

func (o output[T, A]) write(ctx context.Context, how Ownership, version string) (T, error) {
	return o.client.Apply(ctx, o.config(how, version), metav1.ApplyOptions{FieldManager: api.FieldManager, Force: true})
}

// replace deletes an object of ours and makes it anew.
func (o output[T, A]) replace(ctx context.Context, old T) (T, error) {
	uid := old.GetUID()
	err := o.client.Delete(ctx, o.call.name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if err != nil && !apierrors.IsNotFound(err) {
		var none T
		return none, err
	}
	return o.write(ctx, Ours, neverVersion)
}

var kindOf = map[string]string{"secrets": "Secret", "services": "Service", "endpointslices": "EndpointSlice"}
