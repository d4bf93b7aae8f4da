package stage

import "syscall"

// childAttributes make a child die with us, and keep Ctrl-C from reaching it first.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
