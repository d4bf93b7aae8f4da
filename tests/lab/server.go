package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// startTimeout is far above what any part needs, for loaded machines.
const startTimeout = 2 * time.Minute

// Server is one process of the lab. It can be stopped, killed, frozen and
// started again, on the same data and the same port.
type Server struct {
	// Name within the lab, and of the log file.
	Name string

	lab     *Lab
	command func() *exec.Cmd            // what to run, anew for each start
	ready   func(context.Context) error // nil once it serves
	stopSig syscall.Signal              // asks it to end in order
	killSig syscall.Signal              // ends it like a crash
	grace   time.Duration               // for the end in Close
	last    bool                        // others depend on it: closed after them
	cleanup func() error                // once, after the end in Close

	mu   sync.Mutex
	proc *process
}

// server adds a server that is yet to be configured and started.
func (l *Lab) server(name string) (*Server, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, taken := l.servers[name]; taken {
		return nil, fmt.Errorf("the lab already has a server named %q: give each its own Name", name)
	}
	s := &Server{Name: name, lab: l, stopSig: syscall.SIGTERM, killSig: syscall.SIGKILL, grace: 10 * time.Second}
	l.servers[name] = s
	return s, nil
}

// LogFile is where the output of the server goes, over all its starts.
func (s *Server) LogFile() string { return filepath.Join(s.lab.dir, "logs", s.Name+".log") }

// PID is the process ID, 0 when it does not run.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil || s.proc.exited() {
		return 0
	}
	return s.proc.pid()
}

// Start starts a stopped server and returns when it serves.
func (s *Server) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc != nil && !s.proc.exited() {
		return fmt.Errorf("%s is already running", s.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	defer context.AfterFunc(s.lab.ctx, cancel)()
	if s.lab.ctx.Err() != nil {
		return errClosed
	}

	began := time.Now()
	if err := s.spawn(); err != nil {
		return fmt.Errorf("start %s: %w", s.Name, err)
	}
	if err := s.awaitReady(ctx); err != nil {
		_ = s.end(context.Background(), s.killSig, 0)
		return fmt.Errorf("%s did not come up: %w\n%s", s.Name, err, tail(s.LogFile(), 20))
	}
	s.lab.log.Info("started", "server", s.Name, "pid", s.proc.pid(), "after", time.Since(began).Round(time.Millisecond))
	return nil
}

func (s *Server) spawn() error {
	// Not O_TRUNC: a restart goes on in the same log.
	log, err := os.OpenFile(s.LogFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := s.command()
	cmd.Stdout, cmd.Stderr = log, log
	s.proc, err = startProcess(cmd)
	return err
}

func (s *Server) awaitReady(ctx context.Context) error {
	return poll(ctx, func(ctx context.Context) error {
		if s.proc.exited() {
			return fmt.Errorf("it exited: %w", s.exitError())
		}
		attempt, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		return retryable(s.ready(attempt))
	})
}

func (s *Server) exitError() error {
	if s.proc.err != nil {
		return s.proc.err
	}
	return errors.New("status 0")
}

// Stop ends the server in order and returns when it is gone; when the context
// ends before, it is killed.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end(ctx, s.stopSig, 0)
}

// Kill ends the server like a crash and returns when it is gone.
func (s *Server) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end(context.Background(), s.killSig, 0)
}

// Pause freezes the server: connections stay open and nothing answers.
func (s *Server) Pause() error {
	if err := s.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.lab.ctx, 10*time.Second)
	defer cancel()
	return poll(ctx, func(context.Context) error {
		if frozen(s.PID()) {
			return nil
		}
		return retryable(fmt.Errorf("%s does not freeze", s.Name))
	})
}

// Resume wakes a paused server.
func (s *Server) Resume() error { return s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil || s.proc.exited() {
		return fmt.Errorf("%s is not running", s.Name)
	}
	return s.proc.cmd.Process.Signal(sig)
}

func (s *Server) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.end(context.Background(), s.stopSig, s.grace)
	if s.cleanup != nil {
		err = errors.Join(err, s.cleanup())
	}
	return err
}

// end signals the process and waits for it; when the context or the grace
// (0 = none) runs out it is killed. The caller holds mu.
func (s *Server) end(ctx context.Context, sig syscall.Signal, grace time.Duration) error {
	if s.proc == nil || s.proc.exited() {
		return nil
	}
	if grace > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, grace)
		defer cancel()
	}
	process := s.proc.cmd.Process
	if err := process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end %s: %w", s.Name, err)
	}
	_ = process.Signal(syscall.SIGCONT) // a paused process takes no other signal
	select {
	case <-s.proc.done:
		return nil
	case <-ctx.Done():
		_ = process.Kill()
		<-s.proc.done
		return nil
	}
}
