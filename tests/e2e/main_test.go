// Package e2e plays seedmend on real servers: Temporal, a Kubernetes API,
// MariaDB. Nothing in it is faked.
package e2e

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/seedmend/seedmend/tests/lab"
	"github.com/seedmend/seedmend/tests/stage"
)

// shared is the stage that most tests play on, each in a namespace of its own.
var shared *stage.Stage

// running is the seedmend that serves the shared stage.
var running *stage.Process

// binary is seedmend, built with the race detector.
var binary string

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "seedmend-e2e-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	if binary, err = build(ctx, dir); err != nil {
		return 1, err
	}
	shared, err = stage.Up(ctx, stage.Options{
		Lab:      lab.Options{Log: slog.New(slog.NewTextHandler(os.Stderr, nil))},
		Binary:   binary,
		Servers:  map[string]lab.MariaDBOptions{"one": {}, "two": {}, "tls": {TLS: true, RequireTLS: true}},
		Temporal: lab.TemporalOptions{DBFile: true},
	})
	if err != nil {
		return 1, err
	}
	defer shared.Close()
	if err := shared.Provider(ctx, "development", "development", shared.Servers["one"], shared.Servers["two"]); err != nil {
		return 1, err
	}
	if err := shared.Provider(ctx, "encrypted", "encrypted", shared.Servers["tls"]); err != nil {
		return 1, err
	}
	if running, err = shared.Seedmend("run", "--leader-election-namespace=seedmend"); err != nil {
		return 1, err
	}
	if err := running.Ready(ctx); err != nil {
		return 1, err
	}
	code := m.Run()
	if code != 0 {
		fmt.Fprintln(os.Stderr, "seedmend's log:\n"+running.Log())
	}
	return code, running.Stop()
}

func build(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "seedmend")
	args := []string{"build", "-o", path}
	if raceEnabled {
		args = append(args, "-race")
	}
	out, err := exec.CommandContext(ctx, "go", append(args, "github.com/seedmend/seedmend/cmd/seedmend")...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build seedmend: %w\n%s", err, out)
	}
	return path, nil
}
