package operator

import (
	"context"
	_ "embed"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// Definition is one of the kind MariaDB.
type Definition []byte

// Definitions of the kind.
var (
	//go:embed permissive.yaml
	Permissive Definition
	//go:embed pruning.yaml
	Pruning Definition
)

// Resource is the kind's.
var Resource = schema.GroupVersionResource{Group: "k8s.mariadb.com", Version: "v1alpha1", Resource: "mariadbs"}

var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// Install puts a definition in place, over another one where there is one, and
// waits until it is served.
func Install(ctx context.Context, cfg *rest.Config, definition Definition) error {
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return err
	}
	crd := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(definition, &crd.Object); err != nil {
		return err
	}
	if _, err := client.Resource(crds).Apply(ctx, crd.GetName(), crd, metav1.ApplyOptions{FieldManager: "mariadb-operator", Force: true}); err != nil {
		return err
	}
	for {
		if _, err = client.Resource(Resource).List(ctx, metav1.ListOptions{Limit: 1}); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}
