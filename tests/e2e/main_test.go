// Package e2e plays seedmend on real servers: Temporal, a Kubernetes API,
// MariaDB. Nothing in it is faked.
package e2e

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

// shared is the ground that most tests play on, each with names of its own.
var shared *ground

// vault makes every password of the run, so that the search for leaks knows all.
var vault = leak.NewVault()

var (
	program string // seedmend, built with the race detector
	scratch string // a directory for the length of the run
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
	// Most tests wait for others; the number of cores is no measure for that.
	if err := flag.Set("test.parallel", "12"); err != nil {
		return 1, err
	}
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	if scratch, err = os.MkdirTemp("", "seedmend-e2e-"); err != nil {
		return 1, err
	}
	defer os.RemoveAll(scratch)
	program = filepath.Join(scratch, "seedmend")
	if err := stage.Build(ctx, program, raceEnabled); err != nil {
		return 1, err
	}
	shared, err = newGround(ctx, "shared", map[string]lab.MariaDBOptions{
		"one": {},                                         // the decision table's
		"two": {},                                         // the field cases'
		"odd": {Args: []string{"--max-connect-errors=1"}}, // for whoever wants to be alone
		"tls": {TLS: true, RequireTLS: true},
	})
	if err != nil {
		return 1, err
	}
	if err = furnish(ctx, shared); err == nil {
		err = shared.run(ctx)
	}
	if err == nil {
		code = m.Run()
	}
	if code != 0 && shared.process != nil {
		fmt.Fprintln(os.Stderr, "seedmend's log:\n"+shared.process.Log())
	}
	return code, errors.Join(err, shared.close(context.Background()))
}
