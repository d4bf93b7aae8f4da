package k8s

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/seedmend/seedmend/api"
)

// slim drops what nobody here reads.
func slim(obj any) (any, error) {
	if theirs, ok := obj.(*unstructured.Unstructured); ok {
		return slimMariaDB(theirs), nil
	}
	if m, err := meta.Accessor(obj); err == nil {
		m.SetManagedFields(nil)
		delete(m.GetAnnotations(), corev1.LastAppliedConfigAnnotation)
	}
	return obj, nil
}

// slimMariaDB keeps what groupOf reads. A MariaDB is a large object.
func slimMariaDB(obj *unstructured.Unstructured) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetGroupVersionKind(obj.GroupVersionKind())
	out.SetNamespace(obj.GetNamespace())
	out.SetName(obj.GetName())
	out.SetUID(obj.GetUID())
	out.SetGeneration(obj.GetGeneration())
	out.SetResourceVersion(obj.GetResourceVersion())
	annotations := obj.GetAnnotations()
	maps.DeleteFunc(annotations, func(name, _ string) bool {
		return name != api.AnnotationReconnect && name != api.AnnotationThreshold
	})
	out.SetAnnotations(annotations)
	for section, names := range map[string][]string{
		"spec":   {"replicas", "port", "rootPasswordSecretKeyRef", "replication", "tls"},
		"status": {"currentPrimaryPodIndex", "conditions", "replication"},
	} {
		whole, isObject := obj.Object[section].(map[string]any)
		if !isObject { // for GroupOfMariaDB to complain of
			out.Object[section] = obj.Object[section]
			continue
		}
		part := map[string]any{}
		for _, name := range names {
			if value, there := whole[name]; there {
				part[name] = value
			}
		}
		out.Object[section] = part
	}
	return out
}
