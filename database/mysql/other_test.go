package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

// TestAnotherServer runs the story against a server that the lab does not have,
// such as Oracle's MySQL. It makes and drops databases and users of its own:
//
//	SEEDMEND_TEST_MYSQL=mysql://root:password@127.0.0.1:3306 go test -run AnotherServer ./database/mysql
func TestAnotherServer(t *testing.T) {
	address := os.Getenv("SEEDMEND_TEST_MYSQL")
	if address == "" {
		t.Skip("SEEDMEND_TEST_MYSQL names no server")
	}
	u, err := url.Parse(address)
	require.NoError(t, err)
	port, err := strconv.Atoi(u.Port())
	require.NoError(t, err)
	password, _ := u.User.Password()
	admin := database.Admin{
		Address: database.Address{Host: u.Hostname(), Port: port}, Username: u.User.Username(),
		Password: func(context.Context) (string, error) { return password, nil },
	}
	ctx := t.Context()
	e := newEngine(t, Options{})
	c, err := e.connector(admin.Address, admin.TLS, database.Credentials{Username: admin.Username, Password: password}, "")
	require.NoError(t, err)
	root := sql.OpenDB(c)
	defer root.Close()

	stamp := strconv.FormatInt(time.Now().UnixNano()%1e9, 36)
	seed := database.Seed{Credentials: database.Credentials{Username: "a'`\\" + stamp, Password: secret("p'\\\"` ä" + stamp)}, Database: "s_'`\\%" + stamp}
	owner := api.Owner{UID: stamp, Namespace: "team", Name: stamp, Cluster: "cluster-1"}
	defer func() {
		for _, s := range []string{"DROP DATABASE " + ident(seed.Database), "DROP USER " + account(seed.Username, "%"),
			"DELETE FROM seedmend.claims WHERE owner_uid = " + literal(stamp, true)} {
			_, err := root.ExecContext(context.Background(), s)
			require.NoError(t, err)
		}
	}()
	require.NoError(t, e.CheckNames(seed, admin.Username))
	f, err := e.Probe(ctx, admin, seed)
	require.NoError(t, err)
	t.Logf("%+v", f)
	require.Equal(t, api.LoginRefused, f.Auth)
	require.False(t, f.DatabaseExists || f.UserExists)

	other := seed
	other.Database = fmt.Sprintf("sX'`\\XX%s", stamp)
	require.NoError(t, e.Create(ctx, admin, owner, seed))
	require.NoError(t, e.Create(ctx, admin, owner, seed))
	require.NoError(t, e.Login(ctx, admin.Address, seed))
	want(t, api.AccessDenied, e.Login(ctx, admin.Address, other))
	f, err = e.Probe(ctx, admin, seed)
	require.NoError(t, err)
	t.Logf("%+v", f)
	require.Equal(t, api.LoginOK, f.Access)
	require.True(t, f.DatabaseExists && f.UserExists)
	require.Equal(t, "%", f.AccountHost)
	require.Equal(t, api.ClaimReady, f.Claim.Phase)
	require.NoError(t, e.Adopt(ctx, admin, owner, seed, "%"))
	stranger := owner
	stranger.Namespace = "elsewhere"
	want(t, api.DatabaseClaimed, e.Adopt(ctx, admin, stranger, seed, "%"))

	wrong := seed
	wrong.Password = secret("wrong" + stamp)
	want(t, api.CredentialsRejected, e.Login(ctx, admin.Address, wrong))
	missing := seed
	missing.Username = strings.Repeat("u", 129)
	missing.Database += "m"
	f, err = e.Probe(ctx, admin, missing)
	require.NoError(t, err)
	require.False(t, f.DatabaseExists || f.UserExists)
	err = e.Create(ctx, admin, owner, missing)
	want(t, api.NameInvalid, err)
	f, err = e.Probe(ctx, admin, missing)
	require.NoError(t, err)
	require.False(t, f.DatabaseExists)
	require.Nil(t, f.Claim)
}

// TestAnotherReplica mends a replica that the lab does not have. Both servers'
// users are administrators; the replica follows nobody yet, and both have GTIDs
// on:
//
//	SEEDMEND_TEST_MYSQL=mysql://root:password@127.0.0.1:3306 SEEDMEND_TEST_MYSQL_REPLICA=mysql://root:password@127.0.0.1:3307
func TestAnotherReplica(t *testing.T) {
	if os.Getenv("SEEDMEND_TEST_MYSQL") == "" || os.Getenv("SEEDMEND_TEST_MYSQL_REPLICA") == "" {
		t.Skip("SEEDMEND_TEST_MYSQL and SEEDMEND_TEST_MYSQL_REPLICA name no servers")
	}
	ctx := t.Context()
	e := newEngine(t, Options{})
	open := func(name string) (database.Admin, func(...string)) {
		u, err := url.Parse(os.Getenv(name))
		require.NoError(t, err)
		port, err := strconv.Atoi(u.Port())
		require.NoError(t, err)
		password, _ := u.User.Password()
		admin := database.Admin{Address: database.Address{Host: u.Hostname(), Port: port}, Username: u.User.Username(),
			Password: func(context.Context) (string, error) { return password, nil }}
		return admin, func(statements ...string) {
			s, err := e.session(ctx, admin)
			require.NoError(t, err)
			defer s.close()
			for _, statement := range statements {
				_, err := s.exec(ctx, statement)
				require.NoError(t, err, statement)
			}
		}
	}
	primary, onPrimary := open("SEEDMEND_TEST_MYSQL")
	replica, onReplica := open("SEEDMEND_TEST_MYSQL_REPLICA")
	in := database.RepairInput{
		ReplicaServer: database.ReplicaServer{Replica: replica, Primary: primary, Group: "other"},
		Credentials:   database.Credentials{Username: "repl_other", Password: secret("3s'd\"P\\w;--")},
		Verify:        20 * time.Second,
	}
	onPrimary("CREATE USER repl_other@'%' IDENTIFIED BY "+literal(in.Credentials.Password, false), "GRANT REPLICATION SLAVE ON *.* TO repl_other@'%'",
		"CREATE DATABASE other", "CREATE TABLE other.t (i INT PRIMARY KEY)")
	defer onPrimary("DROP DATABASE other", "DROP USER repl_other@'%'")
	onReplica(fmt.Sprintf("CHANGE MASTER TO MASTER_HOST='%s', MASTER_PORT=%d, MASTER_USER='repl_other', MASTER_PASSWORD='wrong', MASTER_AUTO_POSITION=1, MASTER_CONNECT_RETRY=1, MASTER_HEARTBEAT_PERIOD=7",
		primary.Host, primary.Port), "START SLAVE")
	defer onReplica("STOP SLAVE", "RESET SLAVE ALL")
	channel := func() api.Channel {
		all, err := e.Channels(ctx, replica)
		require.NoError(t, err)
		require.Len(t, all, 1)
		return all[0]
	}
	show := func(what string) {
		b, err := e.Backlog(ctx, in.ReplicaServer)
		require.NoError(t, err)
		t.Logf("%s: %+v, backlog %+v", what, channel(), b)
	}
	repair := func(outcome api.Outcome) {
		t.Helper()
		start := time.Now()
		m, err := e.Repair(ctx, in)
		t.Logf("%v: %+v %v", time.Since(start).Round(time.Millisecond), m, err)
		require.NoError(t, err)
		require.Equal(t, outcome, m.Outcome)
	}
	eventually(t, "1045", func() bool { return channel().Stuck() })
	show("stuck")
	trial, detail, err := e.Try(ctx, primary, in.Credentials)
	require.NoError(t, err)
	require.Equal(t, api.TrialProven, trial, detail)
	version, err := e.AccountVersion(ctx, primary, "repl_other")
	require.NoError(t, err)
	t.Logf("account version %q", version)
	repair(api.OutcomeRepaired)
	show("mended")
	repair(api.OutcomeHealed)

	wrong := in
	wrong.Credentials.Password = secret("not the password")
	trial, detail, err = e.Try(ctx, primary, wrong.Credentials)
	require.NoError(t, err)
	require.Equal(t, api.TrialRefused, trial, detail)
	wrong.Credentials.Password = strings.Repeat("x", 33)
	onReplica("STOP SLAVE", "CHANGE MASTER TO MASTER_PASSWORD='wrong', MASTER_HEARTBEAT_PERIOD=7", "START SLAVE")
	eventually(t, "1045", func() bool { return channel().Stuck() })
	_, err = e.Repair(ctx, wrong)
	want(t, api.PasswordTooLong, err)
	wrong.Credentials.Password = "not the password"
	right := in
	in = wrong
	repair(api.OutcomeRefused)
	in = right
	repair(api.OutcomeRepaired)

	// Fetched, not applied.
	onReplica("STOP SLAVE SQL_THREAD")
	onPrimary("INSERT INTO other.t VALUES (1)")
	time.Sleep(300 * time.Millisecond)
	onReplica("STOP SLAVE IO_THREAD", "CHANGE MASTER TO MASTER_PASSWORD='wrong', MASTER_HEARTBEAT_PERIOD=7", "START SLAVE IO_THREAD")
	eventually(t, "1045", func() bool { return channel().Stuck() })
	show("SQL stopped")
	repair(api.OutcomeRepaired)
	require.False(t, channel().SQL)
	onReplica("START SLAVE SQL_THREAD")
	eventually(t, "applied", func() bool {
		c := channel()
		return c.Received == c.Applied
	})
	show("end")
	s, err := e.session(ctx, replica)
	require.NoError(t, err)
	defer s.close()
	period, _, err := s.value(ctx, "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'Slave_heartbeat_period'")
	require.NoError(t, err)
	require.Equal(t, "7.000", period)
}
