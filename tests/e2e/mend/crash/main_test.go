// Package crash cuts repairs of real replicas short: kill -9 at every boundary,
// runs that are terminated or cancelled, Temporal and the Kubernetes API away.
// It has a stage of its own, and its tests run one after the other.
package crash

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/tests/lab"
	"github.com/seedmend/seedmend/tests/stage"
)

var on *stage.Stage

const patience = time.Minute

// service is how seedmend runs here.
var service = []string{"--leader-election=false", "--sweep-interval=1s"}

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "seedmend-mend-crash-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "seedmend")
	if err := stage.Build(ctx, binary, raceEnabled); err != nil {
		return 1, err
	}
	on, err = stage.Up(ctx, stage.Options{
		Binary:   binary,
		Temporal: lab.TemporalOptions{DBFile: true},
	})
	if err != nil {
		return 1, err
	}
	code = m.Run()
	return code, errors.Join(err, on.Close())
}

// ready runs seedmend until the test ends, and returns when it is ready.
func ready(t *testing.T) *stage.Process {
	t.Helper()
	p, err := on.Seedmend("run", service...)
	require.NoError(t, err)
	t.Cleanup(func() {
		p.Kill()
		examine(t, p)
	})
	require.NoError(t, p.Ready(within(t, patience)))
	return p
}

// examine looks at what a process that has ended wrote.
func examine(t *testing.T, p *stage.Process) {
	t.Helper()
	log := p.Log()
	require.NotContains(t, log, "DATA RACE")
	require.NotContains(t, log, "panic")
	if t.Failed() {
		t.Log(log)
	}
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func eventually(t *testing.T, d time.Duration, check func() error) {
	t.Helper()
	require.NoError(t, stage.Eventually(within(t, d), check))
}
