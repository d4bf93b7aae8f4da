package stage

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

const machineHosts = "/etc/hosts"

// inItsOwn runs a program where a file stands over the machine's table of hosts.
// The process keeps its ID over both calls of exec.
const inItsOwn = `mount --bind "$0" ` + machineHosts + ` && exec "$@"`

// named is a command for which a file is the table of hosts, in a mount namespace
// of its own: the rest of the machine sees nothing of it.
func named(hosts, program string, args ...string) *exec.Cmd {
	return exec.Command("unshare", append([]string{"-m", "sh", "-c", inItsOwn, hosts, program}, args...)...)
}

// CanName tells why this machine cannot give a process names of its own: it
// takes Linux, root and unshare.
func CanName(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "unshare", "-m", "sh", "-c", inItsOwn, machineHosts, "true").CombinedOutput()
	if err != nil {
		return fmt.Errorf("no process can be given names of its own here: %w: %s", err, out)
	}
	return nil
}

// writeHosts adds names to the machine's.
func writeHosts(dir string, names map[string]string) (file string, err error) {
	table, err := os.ReadFile(machineHosts)
	if err != nil {
		return "", err
	}
	table = append(table, '\n')
	for _, name := range slices.Sorted(maps.Keys(names)) {
		table = fmt.Appendf(table, "%s %s\n", names[name], name)
	}
	file = filepath.Join(dir, "hosts")
	return file, os.WriteFile(file, table, 0o644)
}
