package lab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/seedmend/seedmend/tests/parts"
)

// mariaTemplate is a datadir as mariadb-install-db leaves it (3 s), copied for
// each instance (0.1 s).
type mariaTemplate struct {
	mu       sync.Mutex
	dir      string
	mariadbd string
}

// mariaArgs keep an instance small enough for dozens of them beside each other,
// and as durable as the defaults.
func mariaArgs() []string {
	args := []string{
		"--innodb-buffer-pool-size=32M",
		"--innodb-log-file-size=16M",
		"--innodb-use-native-aio=0", // the kernel's contexts are few
		"--table-open-cache=400",
		"--character-set-server=utf8mb4",
	}
	if os.Geteuid() == 0 {
		args = append(args, "--user=root")
	}
	return args
}

// newMariaData makes a datadir and names the server's binary.
func (l *Lab) newMariaData(ctx context.Context, dir string) (mariadbd string, err error) {
	t := &l.template
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dir == "" {
		if t.mariadbd, err = l.getter.Path(ctx, parts.MariaDB); err != nil {
			return "", err
		}
		template := filepath.Join(l.dir, "mariadb-template")
		err := l.installMariaDB(ctx, template)
		if err != nil && ctx.Err() == nil && l.ctx.Err() == nil {
			// Seen once on a machine under heavy load; a second try costs 3 s.
			if err := os.RemoveAll(template); err != nil {
				return "", err
			}
			err = l.installMariaDB(ctx, template)
		}
		if err != nil {
			return "", err
		}
		t.dir = template
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	if err := os.CopyFS(dir, os.DirFS(t.dir)); err != nil {
		return "", fmt.Errorf("copy the MariaDB template: %w", err)
	}
	return t.mariadbd, os.Chmod(dir, 0o700)
}

func (l *Lab) installMariaDB(ctx context.Context, dir string) error {
	install, err := exec.LookPath("mariadb-install-db")
	if err != nil {
		return fmt.Errorf("mariadb-install-db is missing beside mariadbd: %w", err)
	}
	args := append([]string{"--no-defaults", "--datadir=" + dir,
		"--auth-root-authentication-method=normal", "--skip-test-db"}, mariaArgs()...)
	return l.run(ctx, "mariadb-install-db", exec.Command(install, args...))
}
