// Command bench measures seedmend on this machine, on real servers: what a
// request costs in SQL, API calls and history, how fast a backlog drains, how
// long one request takes, what it costs to have nothing to do; and beside it a
// plain loop of the same SQL and API writes.
//
//	go run ./tests/bench --backlog 500 --single 30
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	backlog    int
	single     int
	idle       time.Duration
	output     string
	cpuProfile string
}

func main() {
	var o options
	flag.IntVar(&o.backlog, "backlog", 500, "requests that wait when seedmend starts, of each kind; also the length of the plain loops")
	flag.IntVar(&o.single, "single", 30, "requests made one after the other, of each kind")
	flag.DurationVar(&o.idle, "idle", 15*time.Second, "how long to look at a seedmend that has nothing to do")
	flag.StringVar(&o.output, "o", "table", "json or table")
	flag.StringVar(&o.cpuProfile, "cpuprofile", "", "write a CPU profile of seedmend for each backlog: FILE.create and FILE.adopt")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o, os.Stdout)
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, out io.Writer) (err error) {
	if o.output != "json" && o.output != "table" {
		return fmt.Errorf("-o %q is not json or table", o.output)
	}
	if o.backlog < 1 || o.single < 1 || flag.NArg() > 0 {
		return errors.New("--backlog and --single are at least 1, and there are no arguments")
	}
	dir, err := os.MkdirTemp("", "seedmend-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "seedmend")
	say("building seedmend")
	if err := build(ctx, binary, o.cpuProfile != ""); err != nil {
		return err
	}
	say("starting the servers")
	b, err := open(ctx, o, dir, binary)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.stage.Close()) }()
	report, err := b.measure(ctx)
	if err != nil {
		return err
	}
	if o.output == "json" {
		return report.json(out)
	}
	return report.table(out)
}

// say tells how it goes, apart from the result.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
}
