package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/seedmend/seedmend/tests/stage"
)

// profileVariable names the file that a profiled seedmend writes to.
const profileVariable = "SEEDMEND_BENCH_PROFILE"

//go:embed profiled.go.txt
var profiled []byte

// build compiles seedmend; for a profile, with one more file laid over its
// package, so that the product itself needs no profiler.
func build(ctx context.Context, path string, profile bool) error {
	if !profile {
		return stage.Build(ctx, path, false)
	}
	_, here, _, ok := runtime.Caller(0)
	if !ok {
		return fmt.Errorf("the sources of seedmend are not known")
	}
	dir := filepath.Dir(path)
	file, overlay := filepath.Join(dir, "profiled.go"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, profiled, 0o600); err != nil {
		return err
	}
	target := filepath.Join(filepath.Dir(here), "..", "..", "cmd", "seedmend", "profiled.go")
	data, err := json.Marshal(map[string]map[string]string{"Replace": {target: file}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(overlay, data, 0o600); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, "go", "build", "-overlay", overlay, "-o", path, "github.com/seedmend/seedmend/cmd/seedmend").CombinedOutput()
	if err != nil {
		return fmt.Errorf("build a profiled seedmend: %w\n%s", err, out)
	}
	return nil
}
