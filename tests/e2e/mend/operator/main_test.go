// Package operator breaks replicas that the mariadb-operator would run, and has
// seedmend mend them. The servers are real and so is their trouble. In place of
// the operator, which reconciles nothing here, a test writes what the replicas
// themselves report to the MariaDB's status.
package operator

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seedmend/seedmend/tests/lab"
	"github.com/seedmend/seedmend/tests/stage"
	"github.com/seedmend/seedmend/tests/stage/leak"
)

var (
	on      *stage.Stage
	process *stage.Process // the last of all
	all     []*stage.Process
	vault   = leak.NewVault()
	// unable says why nothing can be tested here.
	unable error
)

// noSweep leaves everything to the informer.
var noSweep = []string{"--sweep-interval=0", "--mariadb-sweep-interval=0"}

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if err := flag.Set("test.parallel", "6"); err != nil {
		return 1, err
	}
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	if unable = stage.CanName(ctx); unable != nil {
		return m.Run(), nil
	}
	dir, err := os.MkdirTemp("", "seedmend-operator-")
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
		Hosts:    pods(),
	})
	if err != nil {
		return 1, err
	}
	if err = start(ctx, noSweep...); err == nil {
		code = m.Run()
	}
	if code == 0 && err == nil {
		err = nothingLeaked(ctx)
	}
	for _, p := range all {
		p.Kill()
		if code != 0 || err != nil {
			fmt.Fprintln(os.Stderr, "seedmend's log:\n"+p.Log())
		}
	}
	return code, errors.Join(err, on.Close())
}

// start runs seedmend, and returns when it serves.
func start(ctx context.Context, args ...string) (err error) {
	if process, err = on.Seedmend("run", append([]string{"--leader-election=false"}, args...)...); err != nil {
		return err
	}
	all = append(all, process)
	return process.Ready(ctx)
}

func nothingLeaked(ctx context.Context) error {
	hits, _, err := leak.Search(ctx, on, vault.Needles(), "")
	for _, h := range hits {
		err = errors.Join(err, errors.New(h.String()))
	}
	return err
}
