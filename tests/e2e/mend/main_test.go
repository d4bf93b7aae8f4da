// Package mend breaks real replicas, and has seedmend mend them: real MariaDB,
// real Temporal, a real Kubernetes API. No status is ever faked.
package mend

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seedmend/seedmend/tests/stage"
	"github.com/seedmend/seedmend/tests/stage/leak"
)

var (
	on      *stage.Stage
	process *stage.Process
	vault   = leak.NewVault()
)

// sweepEvery is how often seedmend looks at the replicas here.
const sweepEvery = time.Second

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// nothingLeaked searches all that was stored or printed for every password.
func nothingLeaked(ctx context.Context) error {
	hits, seen, err := leak.Search(ctx, on, vault.Needles(), "")
	fmt.Printf("searched for passwords in %v: %d found\n", seen, len(hits))
	for _, h := range hits {
		err = errors.Join(err, errors.New(h.String()))
	}
	return err
}

func run(m *testing.M) (code int, err error) {
	if err := flag.Set("test.parallel", "6"); err != nil {
		return 1, err
	}
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "seedmend-mend-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "seedmend")
	if err := stage.Build(ctx, binary, raceEnabled); err != nil {
		return 1, err
	}
	on, err = stage.Up(ctx, stage.Options{Binary: binary})
	if err != nil {
		return 1, err
	}
	if process, err = on.Seedmend("run", "--leader-election=false", "--sweep-interval="+sweepEvery.String()); err == nil {
		err = process.Ready(ctx)
	}
	if err == nil {
		code = m.Run()
		err = nothingLeaked(context.Background())
	}
	if process != nil {
		process.Kill()
		if code != 0 {
			fmt.Fprintln(os.Stderr, "seedmend's log:\n"+process.Log())
		}
	}
	return code, errors.Join(err, on.Close())
}
