package mysql

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
	"github.com/seedmend/seedmend/tests/lab"
)

// quick is what is lost with the machine only.
var quick = []string{"--sync-frm=0", "--innodb-flush-log-at-trx-commit=2", "--innodb-doublewrite=0"}

// pair is a primary and a replica that follows it.
type pair struct {
	*rig    // of the primary
	replica *lab.MariaDB
	channel string
	in      database.RepairInput
}

func startPrimary(t testing.TB, args ...string) *lab.MariaDB {
	t.Helper()
	n := int(counter.Add(1))
	m, err := theLab.StartMariaDB(context.Background(), lab.MariaDBOptions{
		Name: fmt.Sprintf("primary-%d", n), ServerID: 100 + n, Args: append(quick, args...)})
	require.NoError(t, err)
	return m
}

func newPair(t testing.TB, repl lab.ReplicationOptions, args ...string) *pair {
	t.Helper()
	primary := startPrimary(t)
	r := &rig{TB: t, MariaDB: primary, engine: newEngine(t, Options{}), admin: adminOf(primary)}
	r.exec("CREATE DATABASE d", "CREATE TABLE d.t (i INT PRIMARY KEY)")
	n := int(counter.Add(1))
	replica, err := theLab.StartReplica(context.Background(), primary, lab.MariaDBOptions{
		Name: fmt.Sprintf("replica-%d", n), ServerID: 100 + n, Args: append(quick, args...)}, repl)
	require.NoError(t, err)
	p := &pair{rig: r, replica: replica, channel: repl.Channel}
	p.in = database.RepairInput{
		ReplicaServer: database.ReplicaServer{Replica: adminOf(replica), Primary: r.admin, Channel: repl.Channel, Group: primary.Name},
		Credentials:   database.Credentials{Username: "repl"},
		Verify:        15 * time.Second,
	}
	eventually(t, "the table", func() bool {
		return replica.DB().QueryRowContext(p.ctx(), "SELECT COUNT(*) FROM d.t").Scan(&n) == nil
	})
	return p
}

// breakIt makes a real 1045, and puts the new password into the Secret.
func (p *pair) breakIt() {
	p.Helper()
	password, err := p.replica.Break(p.ctx(), p.MariaDB, p.channel)
	require.NoError(p, err)
	p.in.Credentials.Password = secret(password)
}

// rotate gives the user a password of the test's, and waits for 1045.
func (p *pair) rotate(password string) {
	p.Helper()
	_, err := p.MariaDB.Rotate(p.ctx(), "repl", secret(password))
	require.NoError(p, err)
	p.in.Credentials.Password = password
	eventually(p, "1045", func() bool { return p.status()["Last_IO_Errno"] == "1045" })
}

func (p *pair) status() map[string]string {
	p.Helper()
	s, err := p.replica.ReplicaStatus(context.WithoutCancel(p.ctx()), p.channel)
	require.NoError(p, err)
	return s
}

func (p *pair) onReplica(statements ...string) {
	p.Helper()
	for _, s := range statements {
		_, err := p.replica.DB().ExecContext(context.WithoutCancel(p.ctx()), s)
		require.NoError(p, err, s)
	}
}

func (p *pair) rows(m *lab.MariaDB) (n int) {
	p.Helper()
	require.NoError(p, m.DB().QueryRowContext(p.ctx(), "SELECT COUNT(*) FROM d.t").Scan(&n))
	return n
}

// repair runs one, looks for secrets in what comes out, and answers what the
// replica was sent.
func (p *pair) repair() (api.Mending, []string) {
	p.Helper()
	m, sent, err := p.tryRepair(p.ctx())
	require.NoError(p, err)
	return m, sent
}

func (p *pair) tryRepair(ctx context.Context) (m api.Mending, sent []string, err error) {
	p.Helper()
	require.NoError(p, p.replica.ResetGeneralLog(p.ctx()))
	start := time.Now()
	m, err = p.engine.Repair(ctx, p.in)
	p.Logf("%v: %+v, %v", time.Since(start).Round(time.Millisecond), m, err)
	hasNoSecret(p, fmt.Sprintf("%+v", m))
	if err != nil {
		require.Error(p, p.check(err))
		require.NotContains(p, err.Error(), "provider")
	}
	log, logErr := p.replica.Statements(context.WithoutCancel(p.ctx()))
	require.NoError(p, logErr)
	require.NoError(p, p.replica.StopGeneralLog(context.WithoutCancel(p.ctx())))
	for _, s := range log {
		word, _, _ := strings.Cut(s.Argument, " ")
		switch {
		case s.Command != "Query", s.User != p.admin.Username && s.User != p.in.Replica.Username, word == "SELECT", strings.HasPrefix(s.Argument, "SHOW ALL SLAVES"):
		case word == "STOP", word == "CHANGE", word == "START":
			sent = append(sent, word)
		case strings.HasPrefix(s.Argument, "SET GLOBAL general_log"):
		default:
			require.Fail(p, "a statement that no repair may send", "%s", s.Argument)
		}
	}
	return m, sent, err
}

var threeStatements = []string{"STOP", "CHANGE", "START"}

// mended asserts a whole repair.
func (p *pair) mended() api.Mending {
	p.Helper()
	m, sent := p.repair()
	require.Equal(p, api.OutcomeRepaired, m.Outcome, m.Detail)
	require.Equal(p, threeStatements, sent)
	require.Len(p, m.Sent, 3)
	s := p.status()
	require.Equal(p, "Yes", s["Slave_IO_Running"])
	require.Equal(p, "0", s["Last_IO_Errno"])
	return m
}

// follows asserts that a row comes through.
func (p *pair) follows() {
	p.Helper()
	p.exec(fmt.Sprintf("INSERT INTO d.t VALUES (%d)", 1000+counter.Add(1)))
	eventually(p, "the row", func() bool { return p.rows(p.replica) == p.rows(p.MariaDB) })
}
