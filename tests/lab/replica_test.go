package lab_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/tests/lab"
)

func TestAReplicaFollows(t *testing.T) {
	l := sharedLab(t)
	ctx := within(t, time.Minute)
	primary := startMariaDB(t, l, lab.MariaDBOptions{Name: "primary", ServerID: 1, TLS: true})
	replica, err := l.StartReplica(ctx, primary, lab.MariaDBOptions{}, lab.ReplicationOptions{SQL: "MASTER_HEARTBEAT_PERIOD=7"})
	require.NoError(t, err)

	_, err = primary.DB().ExecContext(ctx, "CREATE DATABASE replicated")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		var name string
		return replica.DB().QueryRowContext(ctx, "SHOW DATABASES LIKE 'replicated'").Scan(&name) == nil
	}, 10*time.Second, 20*time.Millisecond)

	status, err := replica.ReplicaStatus(ctx, "")
	require.NoError(t, err)
	require.Equal(t, "Slave_Pos", status["Using_Gtid"])
	require.Equal(t, "Yes", status["Master_SSL_Allowed"])
	require.Equal(t, "7", status["Slave_heartbeat_period"])
}

func TestAReplicaIsBroken(t *testing.T) {
	l := sharedLab(t)
	ctx := within(t, time.Minute)
	primary := startMariaDB(t, l, lab.MariaDBOptions{Name: "changing", ServerID: 21})
	replica, err := l.StartReplica(ctx, primary, lab.MariaDBOptions{}, lab.ReplicationOptions{})
	require.NoError(t, err)
	password, err := replica.Break(ctx, primary, "")
	require.NoError(t, err)
	db, err := primary.Open("repl", password, "")
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.PingContext(ctx))
	status, err := replica.ReplicaStatus(ctx, "")
	require.NoError(t, err)
	require.Equal(t, "Connecting", status["Slave_IO_Running"])
}
