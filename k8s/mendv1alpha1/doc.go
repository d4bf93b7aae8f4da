// Package mendv1alpha1 holds the resources of group seedmend.dev: replication
// that no operator runs. The Go types are the source: the CRDs in k8s/crds and
// the deep copies are generated from them, and a test fails when they drift apart.
//
// +kubebuilder:object:generate=true
// +groupName=seedmend.dev
// +versionName=v1alpha1
package mendv1alpha1

//go:generate go tool -modfile=../../tools/controller-gen/go.mod controller-gen object crd paths=. output:crd:dir=../crds
