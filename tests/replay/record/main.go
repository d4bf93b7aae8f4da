// Command record plays the scenarios of the corpus on real parts and writes
// their histories to tests/replay/histories. Run it after a change of a
// workflow, from the root of the checkout, and give the new files new names:
//
//	go run ./tests/replay/record -suffix -v2
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/seedmend/seedmend/tests/lab"
	"github.com/seedmend/seedmend/tests/stage"
)

func main() {
	dir := flag.String("dir", "tests/replay/histories", "where to write")
	suffix := flag.String("suffix", "", "added to each file's name")
	only := flag.String("only", "", "seeds or replicas; default: both")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := record(ctx, *dir, *suffix, *only); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func record(ctx context.Context, dir, suffix, only string) error {
	temp, err := os.MkdirTemp("", "seedmend-record-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	binary := filepath.Join(temp, "seedmend")
	if err := stage.Build(ctx, binary, false); err != nil {
		return err
	}
	s, err := stage.Up(ctx, stage.Options{
		Lab:     lab.Options{Log: slog.New(slog.NewTextHandler(os.Stderr, nil))},
		Binary:  binary,
		Servers: map[string]lab.MariaDBOptions{"one": {}},
	})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Provider(ctx, "development", "development", s.Servers["one"]); err != nil {
		return err
	}
	p, err := s.Seedmend("run", "--leader-election=false", "--seed-wait=3s", "--deadline=5m", "--sweep-interval=1s")
	if err != nil {
		return err
	}
	defer p.Kill()
	if err := p.Ready(ctx); err != nil {
		return err
	}
	r := &recorder{stage: s, server: s.Servers["one"], dir: dir, suffix: suffix}
	if only != "seeds" {
		if err := r.recordReplicas(ctx); err != nil {
			return err
		}
	}
	if only == "replicas" {
		return nil
	}
	for _, scene := range r.scenes() {
		fmt.Fprintln(os.Stderr, "recording", scene.name)
		if err := r.play(ctx, scene); err != nil {
			return fmt.Errorf("%s: %w", scene.name, err)
		}
	}
	return nil
}
