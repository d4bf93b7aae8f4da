package parts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// goTool is a part that is compiled in its module under tools/.
type goTool struct {
	module  string // whose version is the part's
	pkg     string
	takes   string                          // on 2 cores, for people
	ldflags func(version string) (s string) // besides -s -w
}

func (t goTool) path(ctx context.Context, g Getter, p Part) (string, error) {
	source, err := toolDir(p.Name)
	if err != nil {
		return t.anyVersion(p, err)
	}
	version, err := requiredVersion(filepath.Join(source, "go.mod"), t.module)
	if err != nil {
		return "", err
	}
	if path, err := exec.LookPath(p.Name); err == nil && fits(ctx, path, version) {
		return path, nil
	}
	bin, err := cacheDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(bin, p.Name+"-"+version)
	if isProgram(path) {
		return path, nil
	}

	unlock, err := lock(ctx, g, p.Name)
	if err != nil {
		return "", err
	}
	defer unlock()
	if isProgram(path) { // somebody else compiled it meanwhile
		return path, nil
	}
	done := g.watch("%s %s: not on PATH, not in the cache; compiling from the Go module proxy, usually %s on 2 cores",
		p.Name, version, t.takes)
	defer done()
	if err := t.build(ctx, source, version, path); err != nil {
		return "", err
	}
	g.say("%s %s: ok (compiled)", p.Name, version)
	return path, nil
}

// build compiles to a name beside path and renames, so that path is whole or
// not there.
func (t goTool) build(ctx context.Context, source, version, path string) error {
	goBin, err := exec.LookPath("go")
	if err != nil {
		return errors.New("the Go toolchain is not on PATH: install it from https://go.dev/dl")
	}
	ldflags := "-s -w"
	if t.ldflags != nil {
		ldflags += " " + t.ldflags(version)
	}
	temp := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	defer os.Remove(temp)
	cmd := exec.CommandContext(ctx, goBin, "build", "-trimpath", "-ldflags="+ldflags, "-o", temp, t.pkg)
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false", "GOOS=", "GOARCH=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", t.pkg, err, lastLines(out))
	}
	return os.Rename(temp, path)
}

// anyVersion is for a binary that runs outside a checkout: no version is known
// and nothing can be compiled, so take what is there.
func (t goTool) anyVersion(p Part, why error) (string, error) {
	if path, err := exec.LookPath(p.Name); err == nil {
		return path, nil
	}
	if bin, err := cacheDir(); err == nil {
		found, _ := filepath.Glob(filepath.Join(bin, p.Name+"-v*[0-9]"))
		if found = slices.DeleteFunc(found, func(f string) bool { return !isProgram(f) }); len(found) > 0 {
			return slices.MaxFunc(found, compareVersions), nil
		}
	}
	return "", fmt.Errorf("not on PATH, not in the cache, and cannot be compiled: %w; "+
		"run `make deps` in a checkout of seedmend, or put %s on PATH", why, p.Name)
}

func kubeVersionFlags(version string) string {
	const pkg = "k8s.io/component-base/version."
	major, minor, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ = strings.Cut(minor, ".")
	return "-X " + pkg + "gitVersion=" + version + " -X " + pkg + "gitMajor=" + major + " -X " + pkg + "gitMinor=" + minor
}

func temporalVersionFlags(version string) string {
	return "-X github.com/temporalio/cli/temporalcli.Version=" + strings.TrimPrefix(version, "v")
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
