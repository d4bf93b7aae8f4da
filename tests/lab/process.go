package lab

import (
	"os/exec"
	"runtime"
)

// process is a child that dies with us, however we die.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the child is gone and err is set
	err  error
}

// startProcess starts cmd from a goroutine that keeps its OS thread for as
// long as the child lives: the kernel sends the parent-death signal when the
// thread that forked ends, not when the process does.
func startProcess(cmd *exec.Cmd) (*process, error) {
	dieWithParent(cmd)
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) exited() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}
