package k8s

import (
	"reflect"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/mendv1alpha1"
)

// watchGroups adds the kinds whose replicas are mended. Many clusters have
// neither.
func (w *Watch) watchGroups() {
	w.groups = []*watched{
		newWatched(w, mendv1alpha1.ResourceReplicationGroups, true, w.client.ReplicationGroups(corev1.NamespaceAll), &mendv1alpha1.ReplicationGroup{}, 0),
		newWatched(w, mariaDBResource.Resource, true, w.client.mariaDBs(corev1.NamespaceAll), &unstructured.Unstructured{}, 0),
	}
	w.optional = append(w.optional, w.groups...)
	if w.opts.OnGroup == nil {
		return
	}
	handler := w.groupHandler()
	for _, each := range w.groups {
		registration, err := each.AddEventHandler(handler)
		must(err)
		each.handled = registration.HasSynced
	}
}

// groupHandler tells of groups that are new or not as they were. Much of what
// an operator writes to a MariaDB's status concerns no replica.
func (w *Watch) groupHandler() cache.ResourceEventHandler {
	var one sync.Mutex // there are two informers
	tell := func(obj any) {
		if group, is := w.groupOf(obj); is {
			one.Lock()
			defer one.Unlock()
			w.opts.OnGroup(group)
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: tell,
		UpdateFunc: func(before, now any) {
			a, was := w.groupOf(before)
			b, is := w.groupOf(now)
			if was != is || !reflect.DeepEqual(a, b) {
				tell(now)
			}
		},
	}
}

// groupOf is an object of the informers as a group, if it is one.
func (w *Watch) groupOf(obj any) (api.Group, bool) {
	switch obj := obj.(type) {
	case *mendv1alpha1.ReplicationGroup:
		return GroupOf(obj), true
	case *unstructured.Unstructured:
		return GroupOfMariaDB(obj, w.client.ClusterDomain)
	}
	return api.Group{}, false
}

// Groups are all groups in the caches, also those that are Invalid.
func (w *Watch) Groups() []api.Group {
	var out []api.Group
	for _, each := range w.groups {
		for _, obj := range each.GetStore().List() {
			if group, is := w.groupOf(obj); is {
				out = append(out, group)
			}
		}
	}
	return out
}
