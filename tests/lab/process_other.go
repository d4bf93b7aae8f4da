//go:build unix && !linux

package lab

import (
	"os/exec"
	"syscall"
)

// Only Linux has a parent-death signal: elsewhere a lab that is killed with
// SIGKILL leaves its servers running.
func dieWithParent(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}

func frozen(int) bool { return true }
