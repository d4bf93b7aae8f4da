package k8s

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
)

// Snapshot is a request as it stands, in the terms of package api. What is
// wrong with its spec is told in Invalid: a cluster with older CRDs checks less
// than ours do. A seed's namespace is the request's own where none is given.
func Snapshot(obj *v1alpha1.DatabaseRequest) api.Request {
	req := api.Request{
		Namespace:   obj.Namespace,
		Name:        obj.Name,
		UID:         string(obj.UID),
		Generation:  obj.Generation,
		ServiceName: obj.Spec.Name,
		Selector:    either(obj.Spec.Selector, obj.Spec.Scope),
		Type:        obj.Spec.Type,
		Invalid:     invalid(obj),
		Observed:    connectionRef(obj.Status.ObservedDatabaseConnectionReference),
	}
	if seed := obj.Spec.Seed; seed != nil {
		req.Seed = &api.SecretRef{Namespace: either(seed.Namespace, obj.Namespace), Name: seed.Name}
	}
	for _, c := range obj.Status.Conditions {
		req.Conditions = append(req.Conditions, api.Condition{
			Type:               c.Type,
			Status:             string(c.Status),
			Reason:             c.Reason,
			Message:            c.Message,
			LastTransitionTime: c.LastTransitionTime.UTC(),
			ObservedGeneration: c.ObservedGeneration,
		})
	}
	return req
}

// invalid says what makes a spec unusable, or nothing.
func invalid(obj *v1alpha1.DatabaseRequest) string {
	spec := obj.Spec
	switch {
	case spec.Selector != "" && spec.Scope != "":
		return fmt.Sprintf("spec.selector (%q) and spec.scope (%q) are both set; set exactly one of them.", spec.Selector, spec.Scope)
	case spec.Selector == "" && spec.Scope == "":
		return "Neither spec.selector nor spec.scope is set; set exactly one of them."
	case spec.Type == "":
		return "spec.type is not set."
	case spec.Name == "":
		return "spec.name is not set; it names the Service."
	case len(spec.Name) > validation.DNS1035LabelMaxLength:
		return fmt.Sprintf("spec.name has %d characters; the Service that it names may have %d.", len(spec.Name), validation.DNS1035LabelMaxLength)
	case len(validation.IsDNS1035Label(spec.Name)) > 0:
		return fmt.Sprintf("spec.name %q cannot be a Service's name: small letters, digits and -, a letter first and no - at the end.", spec.Name)
	case len(obj.Name) > validation.LabelValueMaxLength:
		return fmt.Sprintf("The request's name has %d characters; %d is the most that the label %s takes.", len(obj.Name), validation.LabelValueMaxLength, api.LabelInstance)
	case spec.Seed != nil && spec.Seed.Name == "":
		return "spec.seed names no Secret."
	}
	return ""
}

// Terminal tells whether a request's present generation is done with: Ready, or
// failed for good. Conditions of the dbaas-controller carry no generation of
// their own; theirs is that of the status.
func Terminal(obj *v1alpha1.DatabaseRequest) bool {
	for _, c := range obj.Status.Conditions {
		if c.Type != api.ConditionReady && c.Type != api.ConditionError || c.Status != metav1.ConditionTrue {
			continue
		}
		observed := c.ObservedGeneration
		if observed == 0 {
			observed = obj.Status.ObservedGeneration
		}
		if observed == obj.Generation {
			return true
		}
	}
	return false
}

// connectionRef reads a reference of the resources. A provider that has a
// namespace is named namespace/name.
func connectionRef(ref *v1alpha1.DatabaseConnectionReference) *api.ConnectionRef {
	if ref == nil || ref.DatabaseObjectReference.Name == "" {
		return nil
	}
	return &api.ConnectionRef{
		Provider:   providerName(ref.DatabaseObjectReference.Namespace, ref.DatabaseObjectReference.Name),
		Connection: ref.Name,
	}
}

// objectReference is the inverse of connectionRef.
func objectReference(ref api.ConnectionRef) *v1alpha1.DatabaseConnectionReference {
	out := &v1alpha1.DatabaseConnectionReference{
		Name: ref.Connection,
		DatabaseObjectReference: corev1.ObjectReference{
			APIVersion: v1alpha1.GroupVersion.String(),
			Kind:       v1alpha1.KindRelationalDatabaseProvider,
			Name:       ref.Provider,
		},
	}
	if namespace, name, namespaced := splitProvider(ref.Provider); namespaced {
		out.DatabaseObjectReference.Kind = v1alpha1.KindDatabaseMySQLProvider
		out.DatabaseObjectReference.Namespace = namespace
		out.DatabaseObjectReference.Name = name
	}
	return out
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
