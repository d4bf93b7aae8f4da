package parts

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// program writes a shell script that answers to --version.
func program(t *testing.T, dir, name, version string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\necho '"+version+"'\n"), 0o755))
	return path
}

// isolated gives an empty PATH and an empty cache.
func isolated(t *testing.T) (bin, cache string) {
	t.Helper()
	bin, cache = t.TempDir(), t.TempDir()
	t.Setenv("PATH", bin)
	t.Setenv("SEEDMEND_CACHE", cache)
	return bin, filepath.Join(cache, "seedmend", "bin")
}

func wanted(t *testing.T, p Part) string {
	t.Helper()
	dir, err := toolDir(p.Name)
	require.NoError(t, err)
	version, err := requiredVersion(filepath.Join(dir, "go.mod"), p.getting.(goTool).module)
	require.NoError(t, err)
	return version
}

func TestEveryCompiledPartHasItsModule(t *testing.T) {
	for _, p := range []Part{Etcd, Temporal, KubeAPIServer} {
		require.Regexp(t, `^v\d+\.\d+\.\d+`, wanted(t, p), p.Name)
	}
}

func TestAFittingProgramOnPathWins(t *testing.T) {
	bin, cache := isolated(t)
	cached := program(t, cache, "etcd-"+wanted(t, Etcd), "")
	onPath := program(t, bin, "etcd", "etcd Version: "+wanted(t, Etcd)[1:])
	path, err := Getter{}.Path(t.Context(), Etcd)
	require.NoError(t, err)
	require.Equal(t, onPath, path)

	program(t, bin, "etcd", "etcd Version: 3.4.23")
	path, err = Getter{}.Path(t.Context(), Etcd)
	require.NoError(t, err)
	require.Equal(t, cached, path, "Debian's is too old")
}

func TestAnotherVersionInTheCacheIsNotTaken(t *testing.T) {
	_, cache := isolated(t)
	program(t, cache, "etcd-v3.5.0", "")
	_, err := Getter{}.Path(t.Context(), Etcd)
	require.ErrorContains(t, err, "Go toolchain is not on PATH")
}

func TestOutsideACheckout(t *testing.T) {
	_, cache := isolated(t)
	_, err := Etcd.getting.(goTool).anyVersion(Etcd, os.ErrNotExist)
	require.ErrorContains(t, err, "run `make deps` in a checkout")

	program(t, cache, "etcd-v3.6.9", "")
	newest := program(t, cache, "etcd-v3.6.13", "")
	program(t, cache, "etcd-v3.6.14.123.tmp", "")
	path, err := Etcd.getting.(goTool).anyVersion(Etcd, os.ErrNotExist)
	require.NoError(t, err)
	require.Equal(t, newest, path)
}

func TestADebianPackageIsInstalled(t *testing.T) {
	bin, _ := isolated(t)
	part := Part{"testpart", debian{packages: []string{"testpart-server"}, candidates: []string{"testpart"}}}
	fake := "#!/bin/sh\necho \"$@\" >>" + bin + "/calls\n" +
		"[ $1 = update ] || { echo '#!/bin/sh' >" + bin + "/testpart; /bin/chmod +x " + bin + "/testpart; }\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "apt-get"), []byte(fake), 0o755))
	path, err := Getter{}.Path(t.Context(), part)
	if os.Geteuid() != 0 {
		require.ErrorContains(t, err, "run `sudo sh -c 'apt-get update && apt-get install -y --no-install-recommends testpart-server'`")
		return
	}
	require.NoError(t, err)
	require.Equal(t, filepath.Join(bin, "testpart"), path)
	calls, err := os.ReadFile(filepath.Join(bin, "calls"))
	require.NoError(t, err)
	require.Equal(t, "update -q\ninstall -y -q --no-install-recommends -o DPkg::Lock::Timeout=300 testpart-server\n", string(calls))
}

func TestVersions(t *testing.T) {
	require.Equal(t, []int{3, 6, 13}, numbers("etcd Version: 3.6.13\nGo Version: go1.26"))
	require.Equal(t, []int{1, 37, 2}, numbers("Kubernetes v1.37.2"))
	require.Equal(t, []int{1, 5, 1}, numbers("temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)"))
	require.Positive(t, compareVersions("/usr/lib/postgresql/15/bin/postgres", "/usr/lib/postgresql/9/bin/postgres"))
	require.Positive(t, compareVersions("etcd-v3.6.13", "etcd-v3.6.9"))
}

func TestOneGetterAtATime(t *testing.T) {
	isolated(t)
	unlock, err := lock(t.Context(), Getter{}, "etcd")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	var said []string
	_, err = lock(ctx, Getter{Progress: func(line string) { said = append(said, line) }}, "etcd")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, []string{"etcd: another process is getting it; waiting"}, said)
	unlock()
	again, err := lock(t.Context(), Getter{}, "etcd")
	require.NoError(t, err)
	again()
}
