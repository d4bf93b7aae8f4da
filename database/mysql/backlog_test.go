package mysql

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/tests/lab"
)

func (p *pair) backlog() api.Backlog {
	p.Helper()
	b, err := p.engine.Backlog(p.ctx(), p.in.ReplicaServer)
	require.NoError(p, p.check(err))
	p.Logf("%+v", b)
	require.NotEmpty(p, b.Detail)
	return b
}

// fetched stops or delays nothing by itself: it waits until what is on the
// primary has come to the replica.
func (p *pair) fetched() {
	p.Helper()
	end := p.value(p.MariaDB, "SELECT @@gtid_binlog_pos")
	eventually(p, "fetched", func() bool { return p.status()["Gtid_IO_Pos"] == end })
}

// purge leaves nothing on the primary but an empty binary log.
func (p *pair) purge() {
	p.Helper()
	p.exec("FLUSH BINARY LOGS")
	files := p.show("SHOW BINARY LOGS")
	last := files[len(files)-1]["Log_name"]
	eventually(p, "purged", func() bool {
		p.exec("PURGE BINARY LOGS TO '" + last + "'")
		return len(p.show("SHOW BINARY LOGS")) == 1
	})
}

// show is an answer of the primary's by the names of its columns.
func (r *rig) show(query string) []map[string]string {
	r.Helper()
	s, err := r.engine.session(r.ctx(), r.admin)
	require.NoError(r, err)
	defer s.close()
	rows, err := s.rows(r.ctx(), query)
	require.NoError(r, err)
	return rows
}

// A change of credentials discards the relay log: this is where data is lost.
func TestBacklog(t *testing.T) {
	t.Parallel()
	p := newPair(t, lab.ReplicationOptions{})
	eventually(t, "applied", func() bool { return p.backlog().Applied })
	b := p.backlog()
	require.Equal(t, api.Backlog{Applied: true, Draining: true, Detail: b.Detail}, b)

	// Fetched, not applied, and still on the primary.
	p.onReplica("STOP SLAVE SQL_THREAD", "CREATE DATABASE of_its_own") // a local write hides nothing
	p.exec("INSERT INTO d.t VALUES (1), (2), (3)")
	p.fetched()
	p.breakIt()
	b = p.backlog()
	require.True(t, b.Kept && b.Safe() && !b.Applied && !b.Draining)
	p.mended()
	p.onReplica("START SLAVE")
	p.follows()

	// The same, purged: nothing is sent.
	p.onReplica("STOP SLAVE SQL_THREAD")
	p.exec("INSERT INTO d.t VALUES (4), (5), (6)")
	p.fetched()
	p.breakIt()
	p.purge()
	p.onReplica("CREATE DATABASE of_its_own_2", "CREATE DATABASE of_its_own_3", "CREATE DATABASE of_its_own_4")
	b = p.backlog()
	require.False(t, b.Safe())
	before := p.status()
	for _, owed := range []bool{false, true} {
		p.in.StartOwed = owed
		m, sent := p.repair()
		require.Equal(t, api.OutcomeUnsafe, m.Outcome)
		require.Empty(t, sent)
		require.Equal(t, b.Detail, m.Detail)
	}
	require.Equal(t, before["Relay_Log_Space"], p.status()["Relay_Log_Space"])

	// The SQL thread drains it, and then it is safe.
	p.onReplica("START SLAVE SQL_THREAD")
	eventually(t, "drained", func() bool { return p.backlog().Applied })
	require.Equal(t, p.rows(p.MariaDB), p.rows(p.replica))
	p.mended()
	p.follows()

	// A delayed replica does not drain by waiting.
	p.onReplica("STOP SLAVE", "CHANGE MASTER TO MASTER_DELAY=3600", "START SLAVE")
	p.exec("INSERT INTO d.t VALUES (7)")
	p.fetched()
	p.breakIt()
	b = p.backlog()
	require.True(t, b.Kept && !b.Applied && !b.Draining)
	m := p.mended()
	require.Equal(t, 3600, m.Channel.Delay)
	p.fetched()
	p.breakIt()
	p.purge()
	require.False(t, p.backlog().Safe())

	// Stopped by a repair that was cut, and purged since: START would lose it.
	p.onReplica("STOP SLAVE")
	p.in.StartOwed = true
	mending, sent := p.repair()
	require.Equal(t, api.OutcomeUnsafe, mending.Outcome)
	require.Empty(t, sent)
	require.Equal(t, "No", p.status()["Slave_IO_Running"])
}

func TestBacklogWithoutGTID(t *testing.T) {
	t.Parallel()
	p := newPair(t, lab.ReplicationOptions{})
	p.onReplica("STOP SLAVE", "CHANGE MASTER TO MASTER_USE_GTID=no", "START SLAVE")
	eventually(t, "connected", func() bool { return p.status()["Slave_IO_Running"] == "Yes" })
	p.follows()
	eventually(t, "applied", func() bool { return p.backlog().Applied })
	p.breakIt()
	require.Empty(t, p.mended().Channel.GTID)
	require.Equal(t, "No", p.status()["Using_Gtid"])
	p.follows()

	p.onReplica("STOP SLAVE SQL_THREAD")
	p.exec("FLUSH BINARY LOGS", "INSERT INTO d.t VALUES (1)")
	fetched := func() {
		t.Helper()
		eventually(t, "fetched", func() bool {
			s, end := p.status(), p.show("SHOW MASTER STATUS")[0]
			return s["Master_Log_File"] == end["File"] && s["Read_Master_Log_Pos"] == end["Position"]
		})
	}
	fetched()
	p.breakIt()
	b := p.backlog()
	require.True(t, b.Kept && !b.Applied)
	p.mended()
	fetched()
	p.breakIt()
	p.purge()
	require.False(t, p.backlog().Safe())
	m, sent := p.repair()
	require.Equal(t, api.OutcomeUnsafe, m.Outcome)
	require.Empty(t, sent)

	// Without GTID START keeps the relay log: what is owed is started, so that
	// the SQL thread applies it, and the next repair is safe.
	p.onReplica("STOP SLAVE")
	p.in.StartOwed = true
	m, sent = p.repair()
	require.Equal(t, api.OutcomeUnsafe, m.Outcome)
	require.Equal(t, []string{"START"}, sent)
	eventually(t, "drained", func() bool { return p.rows(p.replica) == p.rows(p.MariaDB) })
}
