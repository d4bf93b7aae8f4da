package house

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestComposeFile loads docker-compose.yaml with Compose's own loader. The
// checks are in tools/compose, a module of its own.
func TestComposeFile(t *testing.T) {
	complaint, err := checkCompose(t, "docker-compose.yaml")
	require.NoError(t, err, complaint)
}

// TestComposeCheckBites shows that each kind of mistake is refused.
func TestComposeCheckBites(t *testing.T) {
	const good = "services: {a: {image: 'x:1.0'}}"
	for name, c := range map[string]struct{ file, complaint string }{
		"a good file":                    {good, ""},
		"a key that Compose lacks":       {"services: {a: {image: 'x:1.0', imgae: y}}", "imgae"},
		"no tag":                         {"services: {a: {image: x}}", "not pinned"},
		"a moving tag":                   {"services: {a: {image: 'x:latest'}}", "not pinned"},
		"a dependency that is not there": {"services: {a: {image: 'x:1.0', depends_on: {b: {condition: service_healthy}}}}", "b"},
		"a port on every interface":      {"services: {a: {image: 'x:1.0', ports: ['80:80']}}", "not to loopback"},
		"a port on one that is public":   {"services: {a: {image: 'x:1.0', ports: ['192.0.2.1:80:80']}}", "not to loopback"},
		"a volume that is not declared":  {"services: {a: {image: 'x:1.0', volumes: ['data:/data']}}", "data"},
		"a folder that is not there":     {"services: {a: {image: 'x:1.0', volumes: ['./missing:/data']}}", "not there"},
		"health that nobody checks": {"services: {a: {image: 'x:1.0', depends_on: {b: {condition: service_healthy}}}, b: {image: 'x:1.0'}}",
			"no health check"},
		"an end that never comes": {"services: {a: {image: 'x:1.0', depends_on: {b: {condition: service_completed_successfully}}}, b: {image: 'x:1.0', restart: always}}",
			"restarted for ever"},
		"a privileged container": {"services: {a: {image: 'x:1.0', privileged: true}}", "privileged"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "compose.yaml")
			require.NoError(t, os.WriteFile(file, []byte("name: x\n"+c.file), 0o600))
			complaint, err := checkCompose(t, file)
			if c.complaint == "" {
				require.NoError(t, err, complaint)
				return
			}
			require.Error(t, err)
			require.Contains(t, complaint, c.complaint)
		})
	}
}

func checkCompose(t *testing.T, file string) (string, error) {
	t.Helper()
	if !filepath.IsAbs(file) {
		file = filepath.Join("..", "..", file)
	}
	_, complaint, err := try(t, "go", "-C", "tools/compose", "run", ".", file)
	return strings.TrimSpace(string(complaint)), err
}
