package k8s

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/crds"
)

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// InstallCRDs applies the CRDs that this binary was built with, and waits until
// the API server serves them or the context ends. It is for development and
// tests: the chart installs them in a cluster.
func InstallCRDs(ctx context.Context, cfg *rest.Config) error {
	cfg = rest.CopyConfig(cfg)
	cfg.UserAgent = UserAgent
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return err
	}
	definitions, err := readCRDs(crds.FS)
	if err != nil {
		return err
	}
	for _, crd := range definitions {
		what := call{"patch", crdResource.Resource, "", crd.GetName()}
		if _, err := client.Resource(crdResource).Apply(ctx, crd.GetName(), crd,
			metav1.ApplyOptions{FieldManager: api.FieldManager, Force: true}); err != nil {
			return what.failure(err)
		}
	}
	for _, crd := range definitions {
		if err := waitServed(ctx, client, crd); err != nil {
			return err
		}
	}
	return nil
}

func readCRDs(files fs.FS) ([]*unstructured.Unstructured, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		crd := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, &crd.Object); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, crd)
	}
	return out, nil
}

// waitServed waits for the condition Established, and then for an answer: the
// one precedes the other a little.
func waitServed(ctx context.Context, client dynamic.Interface, crd *unstructured.Unstructured) error {
	what := call{"get", crdResource.Resource, "", crd.GetName()}
	for {
		now, err := client.Resource(crdResource).Get(ctx, crd.GetName(), metav1.GetOptions{})
		if err == nil && established(now) {
			if _, err = client.Resource(served(crd)).List(ctx, metav1.ListOptions{Limit: 1}); err == nil {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			if err == nil {
				err = ctx.Err()
			}
			return what.failure(err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func established(crd *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	for _, each := range conditions {
		if c, ok := each.(map[string]any); ok && c["type"] == "Established" {
			return c["status"] == "True"
		}
	}
	return false
}

func served(crd *unstructured.Unstructured) schema.GroupVersionResource {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	version, _, _ := unstructured.NestedString(versions[0].(map[string]any), "name")
	return schema.GroupVersionResource{Group: group, Version: version, Resource: plural}
}
