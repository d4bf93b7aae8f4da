// Package crash takes the parts away from under seedmend: kill -9, servers that
// go and come back, a namespace or a CRD that is late. It has a stage of its
// own, and its tests run one after the other.
package crash

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/tests/lab"
	"github.com/seedmend/seedmend/tests/stage"
)

var (
	on     *stage.Stage
	server *lab.MariaDB
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "seedmend-crash-")
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
		Servers:  map[string]lab.MariaDBOptions{"one": {}},
		Temporal: lab.TemporalOptions{DBFile: true},
	})
	if err != nil {
		return 1, err
	}
	defer on.Close()
	server = on.Servers["one"]
	if err := on.Provider(ctx, "development", "development", server); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// start runs seedmend until the test ends.
func start(t *testing.T, args ...string) *stage.Process {
	t.Helper()
	p, err := on.Seedmend("run", append([]string{"--leader-election=false"}, args...)...)
	require.NoError(t, err)
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Log(p.Log())
		}
	})
	return p
}

// ready starts seedmend and waits until it is ready.
func ready(t *testing.T, args ...string) *stage.Process {
	t.Helper()
	p := start(t, args...)
	require.NoError(t, p.Ready(within(t, time.Minute)))
	return p
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
