package stage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Process is one seedmend, running as in a pod: with its own service account's
// rights, and nothing else.
type Process struct {
	HealthURL  string
	MetricsURL string
	log        *os.File
	cmd        *exec.Cmd
	exited     chan struct{}
	err        error
}

// ports keeps processes of one test run apart.
var starts sync.Mutex

// Seedmend starts "seedmend COMMAND ARGS"; see Ready for when it serves.
func (s *Stage) Seedmend(command string, args ...string) (*Process, error) {
	starts.Lock()
	defer starts.Unlock()
	health, metrics, err := freePorts()
	if err != nil {
		return nil, err
	}
	log, err := os.CreateTemp(filepath.Join(s.Lab.Dir(), "logs"), "seedmend-*.log")
	if err != nil {
		return nil, err
	}
	p := &Process{HealthURL: "http://" + health, MetricsURL: "http://" + metrics + "/metrics", log: log, exited: make(chan struct{})}
	args = append([]string{command, "--health-address=" + health, "--metrics-address=" + metrics, "--log-level=info"}, args...)
	p.cmd = exec.Command(s.binary, args...)
	if s.hosts != "" {
		p.cmd = named(s.hosts, s.binary, args...)
	}
	p.cmd.Env = s.Environment(s.Kube.KubeconfigFor(s.user))
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = childAttributes()
	started := make(chan error)
	go func() {
		// The child dies with the thread that started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
			_ = log.Close()
			close(p.exited)
		}
	}()
	return p, <-started
}

// Ready waits until /readyz says so.
func (p *Process) Ready(ctx context.Context) error {
	return Eventually(ctx, func() error {
		select {
		case <-p.exited:
			return Stop(fmt.Errorf("seedmend exited: %w\n%s", p.err, p.Log()))
		default:
		}
		return get(ctx, p.HealthURL+"/readyz")
	})
}

func get(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, resp.Status)
	}
	return nil
}

// Kill ends it as a crash does.
func (p *Process) Kill() { p.signal(syscall.SIGKILL) }

// Stop asks it to end, and returns how it did.
func (p *Process) Stop() error {
	p.signal(syscall.SIGTERM)
	if p.err != nil {
		return fmt.Errorf("seedmend: %w", p.err)
	}
	return nil
}

// Terminate sends SIGTERM and does not wait.
func (p *Process) Terminate() { _ = p.cmd.Process.Signal(syscall.SIGTERM) }

// Done is closed once it has exited.
func (p *Process) Done() <-chan struct{} { return p.exited }

func (p *Process) signal(sig syscall.Signal) {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return
	}
	<-p.exited
}

// PID of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Log is all that it has printed.
func (p *Process) Log() string {
	data, err := os.ReadFile(p.log.Name())
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// Command runs a person's command to its end.
func (s *Stage) Command(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	cmd := exec.CommandContext(ctx, s.binary, args...)
	cmd.Env = s.Environment(s.Kube.Kubeconfig)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		return -1, out.String(), err.Error()
	}
	return code, out.String(), errs.String()
}
