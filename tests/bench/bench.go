package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/tests/lab"
	"github.com/seedmend/seedmend/tests/stage"
)

// bench is one run on one stage.
type bench struct {
	options
	stage   *stage.Stage
	server  *lab.MariaDB // where seedmend works
	plain   *lab.MariaDB // the same for the plain loops, so that both begin empty
	audit   *audit
	process *stage.Process
}

const selector = "development"

func open(ctx context.Context, o options, dir, binary string) (*bench, error) {
	b := &bench{options: o}
	var err error
	if b.audit, err = newAudit(dir); err != nil {
		return nil, err
	}
	b.stage, err = stage.Up(ctx, stage.Options{

		Kube:    lab.KubeOptions{Args: b.audit.args()},
		Servers: map[string]lab.MariaDBOptions{"seeds": {}, "plain": {}},
		Binary:  binary,
	})
	if err != nil {
		return nil, err
	}
	b.server, b.plain = b.stage.Servers["seeds"], b.stage.Servers["plain"]
	return b, b.stage.Provider(ctx, selector, selector, b.server)
}

// measure goes through all phases. Each one begins with a machine that has been
// given a moment to come to rest.
func (b *bench) measure(ctx context.Context) (*report, error) {
	r := &report{
		At: time.Now().UTC(), Cores: runtime.NumCPU(), LoadBefore: load(),
		Backlog: b.backlog, Single: b.single,
	}
	for _, phase := range []struct {
		name string
		do   func(context.Context, *report) error
	}{
		{"plain loops", b.plainLoops},
		{"backlog of creations", b.createBacklog},
		{"nothing to do", b.idling},
		{"single creations", b.singles(api.ReasonCreated)},
		{"single adoptions", b.singles(api.ReasonAdopted)},
		{"statements, by kind", b.statements},
		{"backlog of adoptions", b.adoptBacklog},
	} {
		say("%s (load %s)", phase.name, load())
		pause(ctx, time.Second)
		if err := phase.do(ctx, r); err != nil {
			return nil, fmt.Errorf("%s: %w", phase.name, err)
		}
	}
	r.LoadAfter = load()
	return r, b.process.Stop()
}

// start starts seedmend as a pod would run it. Ready comes later.
func (b *bench) start(profile string) (err error) {
	if err := os.Setenv(profileVariable, profile); err != nil {
		return err
	}
	b.process, err = b.stage.Seedmend("run", "--leader-election-namespace="+stage.ProviderNamespace)
	return err
}

func (b *bench) restart(ctx context.Context) error {
	if err := b.process.Stop(); err != nil {
		return err
	}
	if err := b.start(""); err != nil {
		return err
	}
	return b.process.Ready(ctx)
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
