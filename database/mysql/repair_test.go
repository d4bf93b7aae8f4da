package mysql

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
	"github.com/seedmend/seedmend/tests/lab"
)

// kept are the settings that no repair may touch.
var kept = []string{
	"Master_Host", "Master_Port", "Connect_Retry", "Using_Gtid", "Slave_heartbeat_period", "SQL_Delay",
	"Replicate_Do_DB", "Replicate_Wild_Ignore_Table", "Replicate_Ignore_Server_Ids", "Replicate_Do_Domain_Ids",
	"Master_SSL_Allowed", "Master_SSL_Verify_Server_Cert", "Slave_SQL_Running",
}

func settings(s map[string]string) (out []string) {
	for _, name := range kept {
		out = append(out, name+"="+s[name])
	}
	return out
}

func TestRepair(t *testing.T) {
	t.Parallel()
	p := newPair(t, lab.ReplicationOptions{SQL: "MASTER_HEARTBEAT_PERIOD=7.5, MASTER_CONNECT_RETRY=3, IGNORE_SERVER_IDS=(99)"},
		"--replicate-wild-ignore-table=ignored.%")
	run := func(name string, f func(t *testing.T, p *pair)) {
		t.Run(name, func(t *testing.T) {
			r, q := *p.rig, *p
			r.TB = t
			q.rig = &r
			f(t, &q)
		})
	}

	run("a real 1045 is mended, and nothing else is changed", func(t *testing.T, p *pair) {
		before := settings(p.status())
		p.breakIt()
		m := p.mended()
		require.Equal(t, before, settings(p.status()))
		require.Equal(t, "1", p.value(p.replica, "SELECT @@read_only"))
		require.Equal(t, []string{"STOP SLAVE", "CHANGE MASTER TO MASTER_USER='repl', MASTER_PASSWORD=<withheld>, MASTER_HEARTBEAT_PERIOD=7.5", "START SLAVE"}, m.Sent)
		require.Equal(t, "Slave_Pos", m.Channel.GTID)
		p.follows()
	})
	run("healed: nothing is sent", func(t *testing.T, p *pair) {
		p.in.Credentials.Password = "any"
		m, sent := p.repair()
		require.Equal(t, api.OutcomeHealed, m.Outcome)
		require.Empty(t, sent)
		p.in.StartOwed = true
		m, sent = p.repair()
		require.Equal(t, api.OutcomeHealed, m.Outcome)
		require.Empty(t, sent)
	})
	run("F13: quotes and backslashes", func(t *testing.T, p *pair) {
		for _, password := range []string{`3s'd"P\w;--`, `\`, `'`, "pä$s ` x", "  spaces "} {
			p.rotate(password)
			p.mended()
		}
		p.follows()
	})
	run("another user than the stored one", func(t *testing.T, p *pair) {
		p.exec("CREATE OR REPLACE USER `re'pl\\`@'%' IDENTIFIED BY 'pw'", "GRANT REPLICATION SLAVE ON *.* TO `re'pl\\`@'%'")
		p.breakIt()
		right := p.in.Credentials
		p.in.Credentials = database.Credentials{Username: `re'pl\`, Password: "pw"}
		require.Equal(t, `re'pl\`, p.mended().Channel.User)
		p.onReplica("STOP SLAVE", "CHANGE MASTER TO MASTER_USER='repl', MASTER_PASSWORD='wrong', MASTER_HEARTBEAT_PERIOD=7.5", "START SLAVE")
		eventually(t, "1045", func() bool { return p.status()["Last_IO_Errno"] == "1045" })
		p.in.Credentials = right
		p.mended()
	})
	run("still refused", func(t *testing.T, p *pair) {
		p.breakIt()
		right := p.in.Credentials.Password
		p.in.Credentials.Password = secret("not-the-password")
		start := time.Now()
		m, sent := p.repair()
		require.Equal(t, api.OutcomeRefused, m.Outcome)
		require.Equal(t, threeStatements, sent)
		require.Less(t, time.Since(start), 5*time.Second)
		require.Contains(t, m.Detail, "1045")
		require.True(t, m.Channel.SQL)
		p.in.Credentials.Password = right
		p.mended()
	})
	run("another server", func(t *testing.T, p *pair) {
		p.breakIt()
		p.in.Primary.Host = "localhost"
		p.mended() // by its server_id
		p.breakIt()
		p.in.Primary = adminOf(serverOf(t, "plain"))
		m, sent := p.repair()
		require.Equal(t, api.OutcomeMismatch, m.Outcome)
		require.Empty(t, sent)
		require.NotEmpty(t, m.Detail)
		p.in.Primary = p.admin
		p.mended()
	})
	run("F15: long passwords", func(t *testing.T, p *pair) {
		p.rotate(strings.Repeat("4", 40))
		p.mended()
		p.rotate(strings.Repeat("ä", 48))
		p.mended()
		p.rotate(strings.Repeat("x", 96))
		p.mended()
		p.rotate(strings.Repeat("y", 97))
		_, sent, err := p.tryRepair(p.ctx())
		want(t, api.PasswordTooLong, err)
		require.Empty(t, sent)
		_, err = p.replica.DB().ExecContext(t.Context(), "CHANGE MASTER 'limit' TO MASTER_PASSWORD='"+strings.Repeat("y", 97)+"'")
		require.EqualValues(t, 1470, code(err), "the limit is this server's own")
		p.breakIt()
		p.mended()
	})
	run("the SQL thread fails on what comes next", func(t *testing.T, p *pair) {
		p.breakIt()
		p.onReplica("SET STATEMENT sql_log_bin=0 FOR INSERT INTO d.t VALUES (1)")
		p.exec("INSERT INTO d.t VALUES (1)")
		m, sent := p.repair()
		require.Equal(t, api.OutcomeSQLStopped, m.Outcome)
		require.Equal(t, threeStatements, sent)
		require.Contains(t, m.Detail, "1062")
		require.Equal(t, "Yes", p.status()["Slave_IO_Running"])
		p.onReplica("SET STATEMENT sql_log_bin=0 FOR DELETE FROM d.t WHERE i = 1", "START SLAVE")
		p.follows()
	})
	run("a SQL thread that was stopped by hand stays so", func(t *testing.T, p *pair) {
		p.breakIt()
		p.onReplica("STOP SLAVE SQL_THREAD")
		m := p.mended()
		require.False(t, m.Channel.SQL)
		require.Equal(t, "START SLAVE IO_THREAD", m.Sent[2])
		require.Equal(t, "No", p.status()["Slave_SQL_Running"])
		p.onReplica("START SLAVE")
		p.follows()
	})
	run("an earlier repair was cut after STOP", func(t *testing.T, p *pair) {
		p.breakIt()
		p.onReplica("STOP SLAVE")
		p.in.StartOwed = true
		m, sent := p.repair()
		require.Equal(t, api.OutcomeRepaired, m.Outcome)
		require.Equal(t, []string{"CHANGE", "START"}, sent)
		require.True(t, m.Channel.SQL)
		p.follows()
	})
	run("cancelled after STOP: it is started all the same", func(t *testing.T, p *pair) {
		p.breakIt()
		through := newProxy(t, p.replica)
		p.in.Replica.Address = through.address()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		through.hook = func(what string) {
			if strings.HasPrefix(what, "STOP") {
				cancel()
			}
		}
		_, sent, err := p.tryRepair(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, threeStatements, sent)
		eventually(t, "replicates", func() bool { return p.status()["Slave_IO_Running"] == "Yes" })
		p.follows()
	})
	run("CHANGE is refused: it is started all the same", func(t *testing.T, p *pair) {
		p.breakIt()
		right := p.in.Replica
		through := newProxy(t, p.replica)
		p.in.Replica.Address = through.address()
		through.hook = func(what string) {
			if strings.HasPrefix(what, "CHANGE") {
				p.onReplica("START SLAVE") // 1198: this cannot be done with a running replica
			}
		}
		_, sent, err := p.tryRepair(t.Context())
		f := want(t, api.DatabaseError, err)
		require.Contains(t, f.Message, "1198")
		require.Equal(t, []string{"STOP", "START", "CHANGE", "START"}, sent, "the first START is the test's")
		eventually(t, "runs with the old password", func() bool { return p.status()["Last_IO_Errno"] == "1045" })
		require.Equal(t, "Yes", p.status()["Slave_SQL_Running"])
		p.in.Replica = right
		p.mended()
	})
	run("not proven in time", func(t *testing.T, p *pair) {
		p.breakIt()
		right := p.in.Replica
		through := newProxy(t, p.replica)
		p.in.Replica.Address = through.address()
		p.in.Verify = 300 * time.Millisecond
		through.hook = func(what string) {
			if strings.HasPrefix(what, "CHANGE") {
				require.NoError(t, p.Pause())
			}
		}
		m, sent := p.repair()
		require.NoError(t, p.Resume())
		require.Equal(t, api.OutcomeUnverified, m.Outcome)
		require.Equal(t, threeStatements, sent)
		require.Contains(t, m.Detail, "IO thread")
		eventually(t, "it goes on by itself", func() bool { return p.status()["Slave_IO_Running"] == "Yes" })
		p.in.Replica = right
	})
	run("the admin's password was changed", func(t *testing.T, p *pair) {
		password := "moving-1"
		p.onReplica("CREATE OR REPLACE USER moving IDENTIFIED BY '"+secret(password)+"'", "GRANT ALL ON *.* TO moving")
		p.in.Replica.Username = "moving"
		p.in.Replica.Password = func(context.Context) (string, error) { return password, nil }
		_, err := p.engine.Channels(t.Context(), p.in.Replica)
		require.NoError(t, err)
		password = secret("moving-2")
		p.onReplica("ALTER USER moving IDENTIFIED BY '" + password + "'")
		p.breakIt()
		p.mended()
	})
	run("cut everywhere: it runs, or the next repair sees to it", func(t *testing.T, p *pair) {
		through := newProxy(t, p.replica)
		for n := 1; ; n++ {
			for _, how := range []cut{cutBefore, cutAfter} {
				p.breakIt()
				p.in.Replica.Address = through.address()
				through.cut(n, how, nil)
				_, _, err := p.tryRepair(p.ctx())
				_, wasCut := through.seen()
				if !wasCut {
					require.NoError(t, err)
					return
				}
				s := p.status()
				require.Equal(t, "Yes", s["Slave_SQL_Running"], "event %d, %v", n, how)
				p.in.Replica = adminOf(p.replica)
				if s["Last_IO_Errno"] == "1045" {
					p.in.StartOwed = true
					p.mended()
				}
				p.engine = newEngine(t, Options{})
			}
		}
	})
	run("one at a time, and nobody in the way of the others", func(t *testing.T, p *pair) {
		p.breakIt()
		own := func() string {
			return p.value(p.replica, "SELECT REGEXP_SUBSTR(@@gtid_binlog_state, CONCAT('0-', @@server_id, '-[0-9]+'))")
		}
		written := own()
		var wg sync.WaitGroup
		outcomes := make([]api.Outcome, 6)
		for i := range outcomes {
			wg.Go(func() {
				m, err := p.engine.Repair(t.Context(), p.in)
				if err == nil {
					outcomes[i] = m.Outcome
				}
			})
		}
		wg.Wait()
		count := map[api.Outcome]int{}
		for _, o := range outcomes {
			count[o]++
		}
		require.Equal(t, map[api.Outcome]int{api.OutcomeRepaired: 1, api.OutcomeHealed: 5}, count)
		require.Equal(t, written, own(), "nothing is written on the replica itself")
	})
	run("a lock of another process", func(t *testing.T, p *pair) {
		held, err := p.engine.session(t.Context(), p.in.Replica)
		require.NoError(t, err)
		_, err = held.lockFor(t.Context(), "replica", p.channel)
		require.NoError(t, err)
		p.breakIt()
		_, sent, err := p.tryRepair(t.Context())
		want(t, api.ServerBusy, err)
		require.Empty(t, sent)
		held.discard()
		p.mended()
	})
	run("errors of the admin's", func(t *testing.T, p *pair) {
		p.breakIt()
		in := p.in
		nobody := func(context.Context) (string, error) { return secret("wrong-admin"), nil }
		p.in.Replica.Password, p.engine = nobody, newEngine(t, Options{})
		_, _, err := p.tryRepair(t.Context())
		want(t, api.AdminCredentialsRejected, err)
		p.in, p.in.Replica.Address.Port = in, 1
		_, _, err = p.tryRepair(t.Context())
		want(t, api.ReplicaUnreachable, err)
		p.in = in
		p.in.Primary.Address.Port = 1
		_, _, err = p.tryRepair(t.Context())
		want(t, api.PrimaryUnreachable, err)

		p.in = in
		p.onReplica("CREATE OR REPLACE USER weak IDENTIFIED BY '"+secret("weak-pw")+"'", "GRANT REPLICA MONITOR ON *.* TO weak")
		p.in.Replica.Username = "weak"
		p.in.Replica.Password = func(context.Context) (string, error) { return "weak-pw", nil }
		_, sent, err := p.tryRepair(t.Context())
		f := want(t, api.AdminPrivilegeMissing, err)
		require.Contains(t, f.Message, "REPLICATION SLAVE ADMIN")
		require.Equal(t, []string{"STOP"}, sent, "refused")
		require.Equal(t, "Connecting", p.status()["Slave_IO_Running"])
		p.in = in
		p.in.Channel = "nowhere"
		_, _, err = p.tryRepair(t.Context())
		want(t, api.ChannelMissing, err)
		p.in = in
		p.mended()
	})
}

func (p *pair) value(m *lab.MariaDB, query string) (v string) {
	p.Helper()
	require.NoError(p, m.DB().QueryRowContext(p.ctx(), query).Scan(&v))
	return v
}
