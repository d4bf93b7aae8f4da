package parts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

const module = "module github.com/seedmend/seedmend\n"

// toolDir is tools/<name> of the checkout that we run in or were compiled from.
func toolDir(name string) (string, error) {
	var starts []string
	if wd, err := os.Getwd(); err == nil {
		starts = append(starts, wd)
	}
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		starts = append(starts, filepath.Dir(file))
	}
	for _, start := range starts {
		for dir := start; ; dir = filepath.Dir(dir) {
			mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
			if err == nil && strings.HasPrefix(string(mod), module) {
				tool := filepath.Join(dir, "tools", name)
				if _, err := os.Stat(filepath.Join(tool, "go.mod")); err != nil {
					return "", fmt.Errorf("the checkout lacks tools/%s: %w", name, err)
				}
				return tool, nil
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return "", errors.New("this is not a checkout of seedmend")
}

// cacheDir is where compiled parts are kept, for all checkouts.
func cacheDir() (string, error) {
	base := os.Getenv("SEEDMEND_CACHE")
	if base == "" {
		var err error
		if base, err = userCache(); err != nil {
			return "", err
		}
	}
	dir := filepath.Join(base, "seedmend", "bin")
	return dir, os.MkdirAll(dir, 0o755)
}

func userCache() (string, error) {
	if dir := os.Getenv("XDG_CACHE_HOME"); dir != "" {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no cache directory: %w; set SEEDMEND_CACHE", err)
	}
	return filepath.Join(home, ".cache"), nil
}
