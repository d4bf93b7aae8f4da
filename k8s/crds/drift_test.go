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

// The CRDs and deep copies are what controller-gen makes of the types today.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	if testing.Short() {
		t.Skip("builds controller-gen")
	}
	out := t.TempDir()
	modfile, err := filepath.Abs("../../tools/controller-gen/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	generate := exec.Command("go", "tool", "-modfile="+modfile, "controller-gen", "crd", "object", "paths=.",
		"output:crd:dir="+out, "output:object:dir="+out)
	generate.Dir = "../v1alpha1"
	if text, err := generate.CombinedOutput(); err != nil {
		t.Fatalf("controller-gen: %v\n%s", err, text)
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
	deepcopy := "zz_generated.deepcopy.go"
	if want[deepcopy], err = os.ReadFile(filepath.Join("../v1alpha1", deepcopy)); err != nil {
		t.Fatal(err)
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
		if !bytes.Equal(got, want[file.Name()]) {
			t.Errorf("%s differs from the types: run go generate ./k8s/...", file.Name())
		}
		delete(want, file.Name())
	}
	for name := range want {
		t.Errorf("%s has no types behind it", name)
	}
}
