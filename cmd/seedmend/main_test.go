package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
)

func TestEveryFlagHasATwinInTheEnvironment(t *testing.T) {
	t.Setenv("SEEDMEND_LOG_LEVEL", "debug")
	t.Setenv("SEEDMEND_DEADLINE", "90s")
	t.Setenv("SEEDMEND_PROVIDER_NAMESPACE", "a,b")
	s := &service{}
	cmd := &cobra.Command{Use: "x"}
	s.addCommon(cmd.Flags())
	s.addWatcher(cmd.Flags())
	require.NoError(t, cmd.Flags().Parse([]string{"--log-level=warn"}))
	require.NoError(t, environment(cmd.Flags()))
	assert.Equal(t, "warn", s.level, "a flag wins over its twin")
	assert.Equal(t, 90*time.Second, s.tuning.Deadline)
	assert.Equal(t, []string{"a", "b"}, s.providerNamespaces)

	t.Setenv("SEEDMEND_SEED_WAIT", "soon")
	assert.ErrorContains(t, environment(cmd.Flags()), "SEEDMEND_SEED_WAIT")
}

func TestBadInputIsAUsageErrorThatSaysWhatToDo(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"explain"}, "name either a request"},
		{[]string{"explain", "--seed=a/b"}, "--type and --selector"},
		{[]string{"explain", "nonsense"}, "is not NAMESPACE/NAME"},
		{[]string{"retry"}, "accepts 1 arg"},
		{[]string{"retry", "a/b/c"}, "is not NAMESPACE/NAME"},
		{[]string{"status", "-o", "xml"}, "json or table"},
		{[]string{"run", "--database-tls=perhaps"}, "disabled, preferred"},
		{[]string{"run", "--log-level=loud"}, "debug, info, warn"},
		{[]string{"run", "--deadline=-1s"}, "cannot be negative"},
		{[]string{"conquer"}, "unknown command"},
	} {
		t.Run(fmt.Sprint(c.args), func(t *testing.T) {
			t.Setenv("KUBECONFIG", "/nonexistent")
			root := newRoot()
			root.SetArgs(append(c.args, kubeconfig(t, c.args)...))
			root.SetOut(&bytes.Buffer{})
			err := root.ExecuteContext(t.Context())
			require.ErrorContains(t, err, c.says)
			var e *exitError
			if errors.As(err, &e) {
				assert.Equal(t, exitUsage, e.code)
			}
		})
	}
}

// kubeconfig is one that is well-formed and leads nowhere.
func kubeconfig(t *testing.T, args []string) []string {
	t.Helper()
	if args[0] != "explain" && args[0] != "retry" {
		return nil
	}
	path := t.TempDir() + "/config"
	require.NoError(t, os.WriteFile(path, []byte(`{"apiVersion":"v1","kind":"Config","clusters":[{"name":"a","cluster":{"server":"http://127.0.0.1:1"}}],"contexts":[{"name":"a","context":{"cluster":"a"}}],"current-context":"a"}`), 0o600))
	return []string{"--kubeconfig=" + path}
}

func TestExitCodes(t *testing.T) {
	code := func(err error) int {
		var e *exitError
		require.ErrorAs(t, err, &e)
		return e.code
	}
	assert.NoError(t, ended(nil, "1m"))
	assert.Equal(t, exitTimeout, code(ended(context.DeadlineExceeded, "1m")))
	hard := ended(api.ToTemporal(api.Failf(api.DatabaseMissing, "database is gone")), "1m")
	assert.Equal(t, exitHard, code(hard))
	lines := bytes.Split([]byte(hard.Error()), []byte("\n"))
	assert.Equal(t, "DatabaseMissing", string(lines[len(lines)-1]), "the reason is the last line")
	assert.Equal(t, exitUsage, code(ended(errors.New("odd"), "1m")))
	assert.Equal(t, exitUnreachable, code(unreachable("Temporal", errors.New("refused"))))
}

func TestAClusterThatDoesNotAnswerIsExitCodeFour(t *testing.T) {
	for _, args := range [][]string{{"retry", "a/b"}, {"explain", "a/b"}} {
		root := newRoot()
		root.SetArgs(append(args, kubeconfig(t, args)...))
		var e *exitError
		require.ErrorAs(t, root.ExecuteContext(t.Context()), &e)
		assert.Equal(t, exitUnreachable, e.code)
	}
}

func TestLinksLeadToTheWorkflow(t *testing.T) {
	p := &person{ui: "http://ui/"}
	assert.Equal(t, "http://ui/namespaces/default/workflows/database:shop%2Fdb", p.link("default", "database:shop/db"))
	assert.Equal(t, "database:shop/db", (&person{}).link("default", "database:shop/db"))
}
