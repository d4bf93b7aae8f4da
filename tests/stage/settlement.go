package stage

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
)

// Settlement is a request that came to its end, at the moment that a watch told so.
type Settlement struct {
	Request *v1alpha1.DatabaseRequest
	At      time.Time
}

// Settlements tells of every request of a namespace that settles from now on,
// once a generation. The channel is closed when ctx ends or the watch breaks.
func (s *Stage) Settlements(ctx context.Context, namespace string) (<-chan Settlement, error) {
	requests := s.Client.DatabaseRequests(namespace)
	list, err := requests.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	w, err := requests.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		return nil, fmt.Errorf("watch the requests in %s: %w", namespace, err)
	}
	settled := make(chan Settlement)
	go func() {
		defer close(settled)
		defer w.Stop()
		told := map[string]int64{}
		for event := range w.ResultChan() {
			r, ok := event.Object.(*v1alpha1.DatabaseRequest)
			if !ok || event.Type == watch.Deleted || told[string(r.UID)] == r.Generation || !IsSettled(r) {
				continue
			}
			told[string(r.UID)] = r.Generation
			select {
			case settled <- Settlement{r, time.Now()}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return settled, nil
}

// IsSettled tells whether a request is Ready or failed at its present generation.
func IsSettled(r *v1alpha1.DatabaseRequest) bool {
	for _, kind := range []string{api.ConditionReady, api.ConditionError} {
		c := meta.FindStatusCondition(r.Status.Conditions, kind)
		if c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == r.Generation {
			return true
		}
	}
	return false
}
