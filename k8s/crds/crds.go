// Package crds holds the CustomResourceDefinitions generated from
// k8s/v1alpha1 and k8s/mendv1alpha1.
package crds

import "embed"

// FS holds one YAML file for each kind, at its root.
//
//go:embed *.yaml
var FS embed.FS
