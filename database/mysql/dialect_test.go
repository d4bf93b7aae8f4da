package mysql

import (
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/database"
)

// F40: the statements of every server.
func TestDialects(t *testing.T) {
	cred := database.Credentials{Username: `re'pl`, Password: `p\w'`}
	for _, test := range []struct {
		version, channel, heartbeat                 string
		status, stop, change, start, startIO, where string
	}{
		{
			"10.6.12-MariaDB", "", "7.000", "SHOW ALL SLAVES STATUS", "STOP SLAVE",
			`CHANGE MASTER TO MASTER_USER='re''pl', MASTER_PASSWORD='p\\w''', MASTER_HEARTBEAT_PERIOD=7.000`,
			"START SLAVE", "START SLAVE IO_THREAD", "SHOW MASTER STATUS",
		},
		{
			"11.4.2-MariaDB-log", `it's`, "", "SHOW ALL SLAVES STATUS", "STOP SLAVE 'it''s'",
			`CHANGE MASTER 'it''s' TO MASTER_USER='re''pl', MASTER_PASSWORD='p\\w'''`,
			"START SLAVE 'it''s'", "START SLAVE 'it''s' IO_THREAD", "SHOW MASTER STATUS",
		},
		{
			"5.6.24-log", "", "7.000", "SHOW SLAVE STATUS", "STOP SLAVE",
			`CHANGE MASTER TO MASTER_USER='re''pl', MASTER_PASSWORD='p\\w''', MASTER_HEARTBEAT_PERIOD=7.000`,
			"START SLAVE", "START SLAVE IO_THREAD", "SHOW MASTER STATUS",
		},
		{
			"5.7.4", "", "7.000", "SHOW SLAVE STATUS", "STOP SLAVE IO_THREAD",
			`CHANGE MASTER TO MASTER_USER='re''pl', MASTER_PASSWORD='p\\w''', MASTER_HEARTBEAT_PERIOD=7.000`,
			"START SLAVE IO_THREAD", "START SLAVE IO_THREAD", "SHOW MASTER STATUS",
		},
		{
			"5.7.44", "it's", "", "SHOW SLAVE STATUS", "STOP SLAVE IO_THREAD FOR CHANNEL 'it''s'",
			`CHANGE MASTER TO MASTER_USER='re''pl', MASTER_PASSWORD='p\\w''' FOR CHANNEL 'it''s'`,
			"START SLAVE IO_THREAD FOR CHANNEL 'it''s'", "START SLAVE IO_THREAD FOR CHANNEL 'it''s'", "SHOW MASTER STATUS",
		},
		{
			"8.0.21", "", "30.000", "SHOW SLAVE STATUS", "STOP SLAVE IO_THREAD FOR CHANNEL ''",
			`CHANGE MASTER TO MASTER_USER='re''pl', MASTER_PASSWORD='p\\w''', MASTER_HEARTBEAT_PERIOD=30.000 FOR CHANNEL ''`,
			"START SLAVE IO_THREAD FOR CHANNEL ''", "START SLAVE IO_THREAD FOR CHANNEL ''", "SHOW MASTER STATUS",
		},
		{
			"8.0.22", "x", "", "SHOW REPLICA STATUS", "STOP REPLICA IO_THREAD FOR CHANNEL 'x'",
			`CHANGE MASTER TO MASTER_USER='re''pl', MASTER_PASSWORD='p\\w''' FOR CHANNEL 'x'`,
			"START REPLICA IO_THREAD FOR CHANNEL 'x'", "START REPLICA IO_THREAD FOR CHANNEL 'x'", "SHOW MASTER STATUS",
		},
		{
			"8.0.36", "x", "", "SHOW REPLICA STATUS", "STOP REPLICA IO_THREAD FOR CHANNEL 'x'",
			`CHANGE REPLICATION SOURCE TO SOURCE_USER='re''pl', SOURCE_PASSWORD='p\\w''' FOR CHANNEL 'x'`,
			"START REPLICA IO_THREAD FOR CHANNEL 'x'", "START REPLICA IO_THREAD FOR CHANNEL 'x'", "SHOW MASTER STATUS",
		},
		{
			"8.4.0", "x", "2.5", "SHOW REPLICA STATUS", "STOP REPLICA IO_THREAD FOR CHANNEL 'x'",
			`CHANGE REPLICATION SOURCE TO SOURCE_USER='re''pl', SOURCE_PASSWORD='p\\w''', SOURCE_HEARTBEAT_PERIOD=2.5 FOR CHANNEL 'x'`,
			"START REPLICA IO_THREAD FOR CHANNEL 'x'", "START REPLICA IO_THREAD FOR CHANNEL 'x'", "SHOW BINARY LOG STATUS",
		},
	} {
		t.Run(test.version, func(t *testing.T) {
			d := parseVersion(test.version).dialect()
			require.Equal(t, test.status, d.status)
			require.Equal(t, test.where, d.position)
			require.Equal(t, test.stop, d.Stop(test.channel))
			require.Equal(t, test.start, d.Start(test.channel, true))
			require.Equal(t, test.startIO, d.Start(test.channel, false))
			change, shown := d.Change(test.channel, cred, test.heartbeat)
			require.Equal(t, test.change, change)
			require.NotContains(t, shown, `p\`)
			require.Contains(t, shown, "PASSWORD=<withheld>")
		})
	}
	d := parseVersion("10.11.1-MariaDB").dialect()
	d.escapes = false
	change, _ := d.Change(`n\`, cred, "")
	require.Equal(t, `CHANGE MASTER 'n\' TO MASTER_USER='re''pl', MASTER_PASSWORD='p\w'''`, change)
}

// The columns of MySQL from 8.0.22 (its reference), of MySQL 5.6 and of MariaDB.
func TestStatusColumns(t *testing.T) {
	row := map[string]string{}
	for name, value := range map[string]string{
		"Channel_Name": "x", "Source_Host": "db1", "Source_Port": "3307", "Source_User": "repl", "Source_Server_Id": "7",
		"Replica_IO_Running": "Connecting", "Replica_SQL_Running": "Yes", "Last_IO_Errno": "1045", "Last_SQL_Errno": "0",
		"Source_Log_File": "b.2", "Read_Source_Log_Pos": "20", "Relay_Source_Log_File": "b.1", "Exec_Source_Log_Pos": "10",
		"SQL_Delay": "5", "Auto_Position": "1", "Retrieved_Gtid_Set": "u:1-3", "Executed_Gtid_Set": "u:1-2", "Replicate_Do_DB": "",
	} {
		row[spelling.Replace(name)] = value
	}
	c := parseStatus(row)
	require.True(t, c.Stuck() && c.SQL && !c.applied())
	require.Equal(t, "x", c.Name)
	require.Equal(t, "db1", c.Primary.Host)
	require.Equal(t, 3307, c.Primary.Port)
	require.EqualValues(t, 7, c.PrimaryID)
	require.Equal(t, "b.2:20", c.Received)
	require.Equal(t, "b.1:10", c.Applied)
	require.Equal(t, 5, c.Delay)
	require.Equal(t, "1", c.GTID)
	require.Equal(t, "u:1-3", c.retrieved)

	maria := map[string]string{"Using_Gtid": "Slave_Pos", "Gtid_IO_Pos": "0-1-7", "Gtid_Slave_Pos": "0-1-7,1-2-3", "Slave_heartbeat_period": "7.000"}
	c = parseStatus(maria)
	require.True(t, c.applied())
	require.Equal(t, "7.000", c.heartbeat)
	maria["Using_Gtid"] = "No"
	require.Empty(t, parseStatus(maria).GTID)
	maria["Slave_heartbeat_period"] = "7, MASTER_HOST='x'"
	require.Empty(t, parseStatus(maria).heartbeat)
}

func TestPositions(t *testing.T) {
	for _, test := range []struct {
		has, wanted   string
		strict, loose bool
	}{
		{"0-1-7", "0-1-7", true, true},
		{"0-1-8,1-1-1", "0-1-7", true, true},
		{"0-1-6", "0-1-7", false, false},
		{"0-2-8", "0-1-7", false, true}, // another server wrote since, or beside
		{"1-1-9", "0-1-7", false, false},
		{"0-1-7", "0-1-7,1-1-1", false, false},
		{"0-1-7", "", false, false}, // not known
		{"", "0-1-7", false, false},
		{"0-1-7", "nonsense", false, false},
		{"0-1-18446744073709551615", "0-1-9223372036854775808", true, true},
	} {
		require.Equal(t, test.strict, positionHas(test.has, test.wanted, true), test)
		require.Equal(t, test.loose, positionHas(test.has, test.wanted, false), test)
	}
}

func TestHosts(t *testing.T) {
	require.True(t, sameHost("DB1.example.com.", "db1.EXAMPLE.com"))
	require.False(t, sameHost("db1", "db1.example.com"))
}

func TestLimits(t *testing.T) {
	maria, old, eight := parseVersion("10.11.6-MariaDB"), parseVersion("5.6.24"), parseVersion("8.0.36")
	of := func(user, password int) database.Credentials {
		return database.Credentials{Username: long(user), Password: long(password)}
	}
	for _, s := range []server{maria, old, eight} {
		require.NoError(t, s.storable(of(16, 32)))
	}
	require.NoError(t, maria.storable(of(128, 96)))
	want(t, "PasswordTooLong", maria.storable(of(16, 97)))
	want(t, "PasswordTooLong", maria.storable(of(129, 8)))
	want(t, "PasswordTooLong", eight.storable(of(16, 40)))
	want(t, "PasswordTooLong", old.storable(of(16, 33)))
	want(t, "PasswordTooLong", old.storable(of(17, 8)))
	want(t, "PasswordTooLong", eight.storable(of(33, 8)))
	for _, odd := range []string{"a\nb", "emoji\U0001F600", "latin\xe4"} {
		want(t, "SecretUnusable", maria.storable(database.Credentials{Username: "u", Password: odd}))
		require.NoError(t, eight.storable(database.Credentials{Username: "u", Password: odd}))
	}
	for _, c := range []database.Credentials{{}, {Username: "u"}, {Password: "p"}, {Username: "u", Password: "p\x00"}, {Username: "u\x00", Password: "p"}} {
		want(t, "SecretUnusable", usable(c))
	}
}

// 1470 says "String '<the password>' is too long for MASTER_PASSWORD".
func TestARefusedChangeQuotesNothing(t *testing.T) {
	at := site{admin: "root"}
	err := changeFailure(onReplica.mending(at.failure(t.Context(), stepChange, &mysql.MySQLError{Number: 1470, Message: "String 'the-password' is too long"})))
	f := want(t, "PasswordTooLong", err)
	require.NotContains(t, f.Error(), "the-password")
	err = changeFailure(onReplica.mending(at.failure(t.Context(), stepChange, &mysql.MySQLError{Number: 1064, Message: "near 'the-password'"})))
	require.True(t, neverRan(err))
	require.True(t, want(t, "StatementRejected", err).Hard())
	require.NotContains(t, err.Error(), "the-password")
}

func long(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'x'
	}
	return string(b)
}

// MySQL from 5.7.4 keeps the relay log while one of the threads runs; with the
// SQL thread stopped CHANGE discards it there too.
func TestWhereTheRelayLogSurvives(t *testing.T) {
	for version, survives := range map[string]bool{"10.11.6-MariaDB": false, "5.6.24": false, "5.7.44": true, "8.0.36": true, "8.4.0": true} {
		b := backlog{replica: &session{pool: &pool{server: parseVersion(version)}}}
		b.c.SQL, b.c.Received, b.c.Applied = true, "b.1:20", "b.1:10"
		require.Equal(t, survives, b.survives(), version)
		require.Equal(t, !survives, b.needsPrimary(), version)
		b.c.SQL = false
		require.False(t, b.survives(), version)
	}
}
