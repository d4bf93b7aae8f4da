package lab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// run runs a short command to its end, with its output in a log of its own.
func (l *Lab) run(ctx context.Context, name string, cmd *exec.Cmd) error {
	file := filepath.Join(l.dir, "logs", name+".log")
	log, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	p, err := startProcess(cmd)
	if err != nil {
		return fmt.Errorf("run %s: %w", name, err)
	}
	select {
	case <-p.done:
	case <-ctx.Done():
	case <-l.ctx.Done():
	}
	if !p.exited() {
		_ = syscall.Kill(-p.pid(), syscall.SIGKILL) // the group: a script has children
		<-p.done
	}
	if p.err != nil {
		return fmt.Errorf("%s: %w\n%s", name, p.err, tail(file, 80))
	}
	return nil
}
