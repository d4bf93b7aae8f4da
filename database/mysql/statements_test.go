package mysql

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
)

// statements runs something and answers what the server saw of the seed's user
// and of an admin used by nobody else.
func (r *rig) statements(do func()) (all []string, logins int) {
	r.Helper()
	require.NoError(r, r.ResetGeneralLog(r.ctx()))
	do()
	log, err := r.Statements(context.WithoutCancel(r.ctx()))
	require.NoError(r, err)
	require.NoError(r, r.StopGeneralLog(r.ctx()))
	for _, s := range log {
		switch {
		case s.User != r.admin.Username && s.User != r.seed.Username:
		case s.Command == "Connect":
			logins++
		case s.Command != "Quit":
			all = append(all, s.Command+" "+s.Argument)
			for _, never := range []string{"ALTER USER", "SET PASSWORD", "FLUSH"} {
				require.NotContains(r, s.Argument, never)
			}
		}
	}
	return all, logins
}

func TestStatementBudget(t *testing.T) {
	r := newRig(t, "trouble")
	r.exec("CREATE OR REPLACE USER counted IDENTIFIED BY '"+secret("counted-pw")+"'", "GRANT ALL ON *.* TO counted WITH GRANT OPTION")
	defer r.exec("DROP USER counted")
	r.admin.Username = "counted"
	r.admin.Password = func(context.Context) (string, error) { return "counted-pw", nil }
	require.NoError(t, newRig(t, "trouble").create()) // the table of claims is there
	r.facts()                                         // and the pool is open

	for _, path := range []struct {
		name               string
		do                 func()
		statements, logins int
	}{
		{"probe and create", func() { r.facts(); require.NoError(t, r.create()) }, 9, 3},
		{"create again: the login is proven", func() { require.NoError(t, r.create()) }, 4, 2},
		{"probe and adopt again", func() { r.facts(); require.NoError(t, r.adopt()) }, 4, 2},
		{"probe and adopt", func() {
			r.exec("DELETE FROM seedmend.claims")
			r.facts()
			require.NoError(t, r.adopt())
		}, 3, 1},
		{"probe, adopt, and a last login", func() {
			r.exec("DELETE FROM seedmend.claims")
			r.facts()
			require.NoError(t, r.adopt())
			require.NoError(t, r.login())
		}, 4, 2},
	} {
		all, logins := r.statements(path.do)
		t.Logf("%s: %d statements, %d logins\n  %s", path.name, len(all), logins, strings.Join(all, "\n  "))
		require.LessOrEqual(t, len(all), path.statements, path.name)
		require.LessOrEqual(t, logins, path.logins, path.name)
	}
}

// A refused password is tried once: servers count.
func TestAProbeTriesAWrongPasswordOnce(t *testing.T) {
	r := newRig(t, "trouble")
	r.setUp()
	r.seed.Password = secret("wrong-password")
	r.facts()
	before := r.logins()
	require.Equal(t, api.LoginRefused, r.facts().Auth)
	require.Equal(t, 1, r.logins()-before)
}

func BenchmarkCreate(b *testing.B) {
	r := newRig(b, "plain")
	require.NoError(b, r.create())
	b.ResetTimer()
	for b.Loop() {
		n := newRig(b, "plain")
		if err := r.engine.Create(b.Context(), n.admin, n.owner, n.seed); err != nil {
			b.Fatal(err)
		}
	}
}
