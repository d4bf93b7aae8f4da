package mendv1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ResourceReplicationGroups as it stands in URLs and in RBAC rules.
const ResourceReplicationGroups = "replicationgroups"

// GroupVersion is seedmend.dev/v1alpha1.
var GroupVersion = schema.GroupVersion{Group: "seedmend.dev", Version: "v1alpha1"}

var schemeBuilder = runtime.NewSchemeBuilder(func(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &ReplicationGroup{}, &ReplicationGroupList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
})

// AddToScheme makes a scheme know the kinds of this package.
var AddToScheme = schemeBuilder.AddToScheme
