package lab_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/tests/lab"
)

// The test binary is its own child: with this set it starts a lab, tells the
// process IDs and waits to be killed.
const orphanage = "SEEDMEND_LAB_TEST_PARENT"

func TestMain(m *testing.M) {
	if dir := os.Getenv(orphanage); dir != "" {
		if err := parent(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	code := m.Run()
	if l, err := shared(); err == nil {
		_ = l.Close()
	}
	os.Exit(code)
}

func parent(dir string) error {
	l, err := lab.New(context.Background(), lab.Options{Dir: dir})
	if err != nil {
		return err
	}
	s, err := startAll(context.Background(), l)
	if err != nil {
		return err
	}
	pids := map[string]int{}
	for name, server := range s.all() {
		pids[name] = server.PID()
	}
	if err := json.NewEncoder(os.Stdout).Encode(pids); err != nil {
		return err
	}
	select {}
}

func TestAKilledParentLeavesNoServer(t *testing.T) {
	ctx := within(t, 2*time.Minute)
	// Not t.TempDir: its paths are long and closed to PostgreSQL's user, so that
	// the lab would use directories that nobody removes after the kill.
	dir, err := os.MkdirTemp("", "orphans-")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	require.NoError(t, os.Chmod(dir, 0o711))
	child := exec.CommandContext(ctx, os.Args[0])
	child.Env = append(os.Environ(), orphanage+"="+dir)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	line, err := bufio.NewReader(out).ReadBytes('\n')
	require.NoError(t, err)
	var pids map[string]int
	require.NoError(t, json.Unmarshal(line, &pids))
	require.Len(t, pids, 5)
	for name, pid := range pids {
		require.True(t, alive(pid), name)
	}

	require.NoError(t, child.Process.Kill())
	_ = child.Wait()
	for name, pid := range pids {
		require.Eventually(t, func() bool { return !alive(pid) }, 10*time.Second, 20*time.Millisecond, name)
	}
}

// alive does not count a zombie that its new parent has not yet collected.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	var state string
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, err = fmt.Sscanf(string(stat[lastParen(stat)+1:]), " %s", &state)
	return err == nil && state != "Z"
}

func lastParen(stat []byte) int {
	for i := len(stat) - 1; i >= 0; i-- {
		if stat[i] == ')' {
			return i
		}
	}
	return -1
}
