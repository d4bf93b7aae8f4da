package crds_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seedmend/seedmend/k8s/crds"
)

// packages are those that CRDs are made of.
var packages = []string{"v1alpha1", "mendv1alpha1"}

// The CRDs and deep copies are what controller-gen makes of the types today.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	if testing.Short() {
		t.Skip("builds controller-gen")
	}
	modfile, err := filepath.Abs("../../tools/controller-gen/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	committed, err := fs.Glob(crds.FS, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{}
	for _, name := range committed {
		if want[name], err = crds.FS.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	for _, from := range packages {
		const deepcopy = "zz_generated.deepcopy.go"
		if want[from+"/"+deepcopy], err = os.ReadFile(filepath.Join("..", from, deepcopy)); err != nil {
			t.Fatal(err)
		}
		out := t.TempDir()
		generate := exec.CommandContext(t.Context(), "go", "tool", "-modfile="+modfile, "controller-gen", "crd", "object", "paths=.",
			"output:crd:dir="+out, "output:object:dir="+out)
		generate.Dir = filepath.Join("..", from)
		if text, err := generate.CombinedOutput(); err != nil {
			t.Fatalf("controller-gen: %v\n%s", err, text)
		}
		made, err := os.ReadDir(out)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range made {
			got, err := os.ReadFile(filepath.Join(out, file.Name()))
			if err != nil {
				t.Fatal(err)
			}
			name := file.Name()
			if name == deepcopy {
				name = from + "/" + name
			}
			if !bytes.Equal(got, want[name]) {
				t.Errorf("%s differs from the types: run make generate", name)
			}
			delete(want, name)
		}
	}
	for name := range want {
		t.Errorf("%s has no types behind it", name)
	}
}
