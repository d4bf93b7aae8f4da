package lab

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the user that PostgreSQL runs as: root is refused. The zero value
// is ourselves.
type account struct{ credential *syscall.Credential }

func unprivileged() (account, error) {
	if os.Geteuid() != 0 {
		return account{}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(err1, err2); err != nil {
			return account{}, err
		}
		return account{&syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
	}
	return account{}, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody: create one")
}

func (a account) own(path string) error {
	if a.credential == nil {
		return nil
	}
	return os.Chown(path, int(a.credential.Uid), int(a.credential.Gid))
}

func (a account) command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if a.credential != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: a.credential}
	}
	return cmd
}

// postgresHome makes the directory of an instance: in the lab's, unless another
// user cannot get in there.
func (l *Lab) postgresHome(name string) (string, account, error) {
	as, err := unprivileged()
	if err != nil {
		return "", as, err
	}
	home := filepath.Join(l.dir, name)
	if as.credential != nil && !open(l.dir) {
		if home, err = l.tempDir(); err != nil {
			return "", as, err
		}
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return "", as, err
	}
	return home, as, as.own(home)
}

// open tells whether every user can pass through dir.
func open(dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil || info.Mode()&0o001 == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}
