// Package house holds what keeps the project in order: the directions of
// imports, and the files that no compiler looks at.
package house

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the repository, seen from this package.
const root = "../.."

// run runs a command in the repository and returns what it printed on standard
// output.
func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	out, errOut, err := try(t, name, args...)
	require.NoError(t, err, "%s %s\n%s%s", name, strings.Join(args, " "), errOut, out)
	return out
}

func try(t *testing.T, name string, args ...string) (out, errOut []byte, err error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = root
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	return stdout.Bytes(), stderr.Bytes(), err
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, path))
	require.NoError(t, err)
	return string(data)
}
