package parts

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// debian is a part that Debian and Ubuntu have as a package.
type debian struct {
	packages   []string
	service    string   // that the package starts
	candidates []string // names on PATH or file patterns
}

func (d debian) path(ctx context.Context, g Getter, p Part) (string, error) {
	if path := d.find(); path != "" {
		return path, nil
	}
	install := "apt-get update && apt-get install -y --no-install-recommends " + strings.Join(d.packages, " ")
	apt, err := exec.LookPath("apt-get")
	if err != nil {
		return "", fmt.Errorf("not installed, and this is not Debian or Ubuntu: install what its packages %v hold", d.packages)
	}
	if os.Geteuid() != 0 {
		return "", fmt.Errorf("not installed: run `sudo sh -c '%s'`", install)
	}
	unlock, err := lock(ctx, g, "apt-get")
	if err != nil {
		return "", err
	}
	defer unlock()
	if path := d.find(); path != "" { // somebody else installed it meanwhile
		return path, nil
	}

	done := g.watch("%s: not installed; installing %s with apt-get, usually 1 min", p.Name, strings.Join(d.packages, ", "))
	defer done()
	update := exec.CommandContext(ctx, apt, "update", "-q")
	if out, err := update.CombinedOutput(); err != nil {
		return "", fmt.Errorf("apt-get update: %w\n%s", err, lastLines(out))
	}
	args := append([]string{"install", "-y", "-q", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"}, d.packages...)
	cmd := exec.CommandContext(ctx, apt, args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", install, err, lastLines(out))
	}
	d.stopService(ctx, g)
	path := d.find()
	if path == "" {
		return "", fmt.Errorf("still not found after `%s` (looked for %v)", install, d.candidates)
	}
	g.say("%s: ok (installed)", p.Name)
	return path, nil
}

// find looks on PATH, in sbin (not on everybody's PATH) and by pattern; the
// newest version wins.
func (d debian) find() string {
	for _, c := range d.candidates {
		if strings.Contains(c, "/") {
			found, _ := filepath.Glob(c)
			if len(found) > 0 {
				return slices.MaxFunc(found, compareVersions)
			}
			continue
		}
		for _, name := range []string{c, filepath.Join("/usr/sbin", c)} {
			if path, err := exec.LookPath(name); err == nil {
				return path
			}
		}
	}
	return ""
}

// stopService stops what the package started by itself. The server was not
// installed a moment ago, so this can be nobody else's.
func (d debian) stopService(ctx context.Context, g Getter) {
	if d.service == "" {
		return
	}
	if exec.CommandContext(ctx, "service", d.service, "status").Run() != nil {
		return // does not run
	}
	if err := exec.CommandContext(ctx, "service", d.service, "stop").Run(); err != nil {
		g.say("could not stop the service %s that the installation started: %v", d.service, err)
	}
}
