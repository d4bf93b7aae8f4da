package mend

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/mendv1alpha1"
	"github.com/seedmend/seedmend/tests/lab"
	"github.com/seedmend/seedmend/tests/stage"
)

// F36: a connection with a name, and a quote in it, next to a healthy one.
func TestF36ANamedConnectionNextToAHealthyOne(t *testing.T) {
	t.Parallel()
	h := newHerd(t, "named", herdOptions{channel: "it's mariadb-operator", threshold: time.Second})
	other, err := on.Lab.StartMariaDB(within(t, patience), lab.MariaDBOptions{Name: "named-other", ServerID: 77, Args: []string{"--gtid-domain-id=9"}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = other.Kill() })
	require.NoError(t, h.replicas[0].Follow(within(t, patience), other, lab.ReplicationOptions{Channel: "other", User: "repl2", Password: vault.Password()}))
	before := dumpThread(t, other, "repl2")
	h.listen(t, 0)
	password, _ := h.rotate(t, 0)
	h.publish(t, password)
	h.becomes(t, 0, api.ReasonRepaired)
	h.assertOneRepair(t, 0)
	h.runs(t, 0)
	assert.Equal(t, before, dumpThread(t, other, "repl2"), "the healthy connection was not touched")
	var n int
	require.NoError(t, h.replicas[0].DB().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND LIKE 'Slave_IO%'").Scan(&n))
	assert.Equal(t, 2, n, "and there is no third one")
}

// dumpThread is the ID of the primary's thread that serves a replication user:
// it stays as long as the replica's connection does.
func dumpThread(t *testing.T, primary *lab.MariaDB, user string) (id int) {
	t.Helper()
	require.NoError(t, stage.Eventually(within(t, patience), func() error {
		return primary.DB().QueryRowContext(t.Context(), "SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND LIKE 'Binlog Dump%' AND USER = ?", user).Scan(&id)
	}))
	return id
}

func TestOtherShapesOf1045(t *testing.T) {
	t.Run("another user is stored", func(t *testing.T) {
		t.Parallel()
		h := newHerd(t, "ghost", herdOptions{threshold: time.Second})
		h.listen(t, 0)
		h.exec(t, h.replicas[0], "STOP SLAVE", "CHANGE MASTER TO MASTER_USER='ghost', MASTER_PASSWORD='nobody', MASTER_HEARTBEAT_PERIOD=7.5", "START SLAVE")
		h.becomes(t, 0, api.ReasonRepaired)
		h.assertOneRepair(t, 0)
		s := h.runs(t, 0)
		assert.Equal(t, "repl", s["Master_User"])
		assert.Equal(t, "7.5", s["Slave_heartbeat_period"])
	})
	t.Run("the IO thread has given up", func(t *testing.T) {
		t.Parallel()
		h := newHerd(t, "givenup", herdOptions{threshold: 5 * time.Second, args: []string{"--master-retry-count=2"}})
		h.listen(t, 0)
		password, _ := h.rotate(t, 0)
		h.publish(t, password)
		h.waitFor(t, 0, "Slave_IO_Running", "No")
		h.becomes(t, 0, api.ReasonRepaired)
		h.assertOneRepair(t, 0)
		h.runs(t, 0)
	})
	t.Run("a password that has to be quoted, and is long (F13, F15)", func(t *testing.T) {
		t.Parallel()
		for i, mode := range []string{"", "NO_BACKSLASH_ESCAPES,ANSI_QUOTES"} {
			h := newHerd(t, fmt.Sprintf("quotes-%d", i), herdOptions{threshold: time.Second, args: []string{"--sql-mode=" + mode}})
			password := vault.Password(`3s'd"P\w;--` + "0123456789012345678901234567")
			h.exec(t, h.replicas[0], "SET GLOBAL general_log = OFF")
			h.rotateTo(t, 0, password, mode != "")
			h.publish(t, password)
			h.becomes(t, 0, api.ReasonRepaired)
			h.runs(t, 0)
		}
	})
	t.Run("the primary's account is for another host", func(t *testing.T) {
		t.Parallel()
		h := newHerd(t, "pattern", herdOptions{threshold: time.Second})
		h.listen(t, 0)
		password, _ := h.rotate(t, 0)
		h.exec(t, h.primary, "RENAME USER repl@'%' TO repl@'10.99.99.%'")
		h.publish(t, password)
		// The Secret is right by the stored hash, and the primary refuses the
		// replica all the same: one try, and a cool-down.
		h.becomes(t, 0, api.StillRefused)
		h.assertOneRepair(t, 0)
		time.Sleep(5 * sweepEvery)
		h.assertOneRepair(t, 0)
	})
}

// What the SQL thread does after the repair is reported, and is not repaired.
func TestTheSQLThreadStopsAfterTheRepair(t *testing.T) {
	for name, c := range map[string]struct {
		errno           int
		replica, source []string
	}{
		"1062": {1062, []string{"INSERT INTO shop.t VALUES (5000)"}, []string{"INSERT INTO shop.t VALUES (5000)"}},
		"1396": {1396, []string{"CREATE USER tenant"}, []string{"CREATE USER tenant"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHerd(t, "sqlstop-"+name, herdOptions{threshold: time.Second})
			h.exec(t, h.replicas[0], append([]string{"SET sql_log_bin = 0"}, c.replica...)...)
			h.listen(t, 0)
			password, _ := h.rotate(t, 0)
			h.exec(t, h.primary, c.source...)
			h.publish(t, password)
			e := h.becomes(t, 0, api.SQLThreadStopped)
			assert.Contains(t, e.Message, fmt.Sprint(c.errno))
			time.Sleep(3 * sweepEvery)
			h.assertOneRepair(t, 0)
			result, err := h.result(t, 0)
			require.NoError(t, err)
			assert.Equal(t, fmt.Sprintf("auth fixed, SQL thread stopped (%d)", c.errno), result.Message)
		})
	}
}

// Everything but user and password is as before (F44, F45).
func TestWhatARepairLeavesAsItIs(t *testing.T) {
	t.Parallel()
	h := newHerd(t, "settings", herdOptions{
		threshold: time.Second, args: []string{"--skip-slave-start"},
		sql: "MASTER_CONNECT_RETRY=1, MASTER_DELAY=3, MASTER_HEARTBEAT_PERIOD=12.5, IGNORE_SERVER_IDS=(4711), MASTER_SSL_VERIFY_SERVER_CERT=0",
	})
	h.exec(t, h.replicas[0], "STOP SLAVE", "SET GLOBAL replicate_wild_ignore_table = 'secret.%'", "START SLAVE")
	before := h.runs(t, 0)
	state := variables(t, h.replicas[0])
	h.listen(t, 0)
	password, _ := h.rotate(t, 0)
	h.publish(t, password)
	h.becomes(t, 0, api.ReasonRepaired)
	after := h.runs(t, 0)
	for _, field := range []string{
		"Using_Gtid", "Connect_Retry", "SQL_Delay", "Slave_heartbeat_period", "Replicate_Ignore_Server_Ids", "Replicate_Wild_Ignore_Table",
		"Master_SSL_Allowed", "Master_SSL_CA_File", "Master_SSL_Verify_Server_Cert", "Master_Host", "Master_Port", "Retried_transactions", "Parallel_Mode",
	} {
		assert.Equal(t, before[field], after[field], field)
	}
	assert.Equal(t, "12.5", after["Slave_heartbeat_period"])
	assert.Equal(t, state, variables(t, h.replicas[0]))
}

// variables are those of the server that no repair may change.
func variables(t *testing.T, m *lab.MariaDB) (v [3]string) {
	t.Helper()
	require.NoError(t, m.DB().QueryRowContext(t.Context(), "SELECT @@read_only, @@gtid_binlog_state <> '', @@gtid_strict_mode").Scan(&v[0], &v[1], &v[2]))
	return v
}

// Two replicas of a semi-sync group, broken at once.
func TestTwoReplicasAreMendedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	h := newHerd(t, "semisync", herdOptions{replicas: 2, threshold: 3 * time.Second, args: []string{
		"--rpl-semi-sync-master-enabled=1", "--rpl-semi-sync-slave-enabled=1", "--rpl-semi-sync-master-timeout=2000",
	}})
	h.listen(t, 0)
	h.listen(t, 1)
	password, _ := h.rotate(t, 0)
	h.waitFor(t, 1, "Last_IO_Errno", "1045")
	h.insert(t, 2, 2) // the primary notices that nobody acknowledges, and goes on
	h.publish(t, password)
	ctx, stop := context.WithCancel(t.Context())
	waits := make(chan []time.Duration, 1)
	go func() { waits <- write(ctx, h) }()
	h.becomes(t, 0, api.ReasonRepaired)
	h.becomes(t, 1, api.ReasonRepaired)
	stop()
	took := <-waits
	require.Greater(t, len(took), 20)
	var longest, total time.Duration
	for _, d := range took {
		longest, total = max(longest, d), total+d
	}
	usual := total / time.Duration(len(took))
	t.Logf("%d commits, %s each, %s at most", len(took), usual, longest)
	assert.Less(t, longest, usual+time.Second)
	h.assertOneRepair(t, 0)
	h.assertOneRepair(t, 1)
	first, second := repaired(t, h.replicas[0]), repaired(t, h.replicas[1])
	assert.True(t, first[1].Before(second[0]) || second[1].Before(first[0]), "one after the other: %v, %v", first, second)
	h.runs(t, 0)
	h.runs(t, 1)
	h.caught(t, 0)
	h.caught(t, 1)
}

// write commits on the primary until the context ends.
func write(ctx context.Context, h *herd) (took []time.Duration) {
	for n := 100_000; ctx.Err() == nil; n++ {
		began := time.Now()
		if _, err := h.primary.DB().ExecContext(ctx, fmt.Sprintf("INSERT INTO shop.t VALUES (%d)", n)); err != nil {
			return took
		}
		took = append(took, time.Since(began))
		time.Sleep(10 * time.Millisecond)
	}
	return took
}

// repaired is when seedmend's STOP and START reached a replica.
func repaired(t *testing.T, m *lab.MariaDB) (at [2]time.Time) {
	t.Helper()
	require.NoError(t, m.DB().QueryRowContext(t.Context(), "SELECT "+
		"MIN(IF(argument LIKE 'STOP%', event_time, NULL)), MAX(IF(argument LIKE 'START%', event_time, NULL)) FROM mysql.general_log WHERE user_host LIKE '%seedmend%'").Scan(&at[0], &at[1]))
	return at
}

// A group that nobody opted in for is watched, and left alone.
func TestWithoutOptInNothingIsSent(t *testing.T) {
	t.Parallel()
	h := newHerd(t, "optedout", herdOptions{threshold: time.Second, change: func(g *mendv1alpha1.ReplicationGroup) {
		g.Spec.Recovery.ReconnectOnAuthError = false
	}})
	h.listen(t, 0)
	password, _ := h.rotate(t, 0)
	h.publish(t, password)
	h.becomes(t, 0, api.RepairOff)
	time.Sleep(4 * sweepEvery)
	h.assertNothingSent(t, 0)

	// A person may all the same.
	code, out, errs := on.Command(within(t, patience), "repair", "optedout/db", "--dry-run")
	assert.Zero(t, code, errs)
	assert.Contains(t, out, "yes")
	h.assertNothingSent(t, 0)
	code, out, _ = on.Command(within(t, patience), "repair", "optedout/db/r1")
	assert.Equal(t, 1, code, "nobody is there to confirm: %s", out)
	h.assertNothingSent(t, 0)
	code, out, errs = on.Command(within(t, patience), "repair", "optedout/db/r1", "--yes")
	assert.Zero(t, code, errs)
	assert.Contains(t, out, "replicates")
	h.assertOneRepair(t, 0)
	h.runs(t, 0)
	code, out, errs = on.Command(within(t, patience), "status", "--replicas", "-n", "optedout")
	assert.Zero(t, code, errs)
	assert.Contains(t, out, "r1")
}
