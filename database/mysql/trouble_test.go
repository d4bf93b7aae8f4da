package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

// all runs every call and answers its error.
func (r *rig) all(ctx context.Context, e *Engine) map[string]error {
	_, probe := e.Probe(ctx, r.admin, r.seed)
	return map[string]error{
		"probe":  r.check(probe),
		"adopt":  r.check(e.Adopt(ctx, r.admin, r.owner, r.seed, "%")),
		"create": r.check(e.Create(ctx, r.admin, r.owner, r.seed)),
		"login":  r.check(e.Login(ctx, r.admin.Address, r.seed)),
	}
}

func TestAServerThatIsNotThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	for host, port := range map[string]int{"127.0.0.1": port, "no-such-host.invalid": 3306} {
		r := newRig(t, "plain")
		r.admin.Address = database.Address{Host: host, Port: port}
		for call, err := range r.all(t.Context(), r.engine) {
			f := want(t, api.ServerUnreachable, err)
			require.Contains(t, f.Message, host, call)
		}
	}
}

func TestAServerThatIsNoMySQL(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			c.Close()
		}
	}()
	r := newRig(t, "plain")
	r.admin.Address.Port = l.Addr().(*net.TCPAddr).Port
	for _, err := range r.all(t.Context(), r.engine) {
		want(t, api.ServerUnreachable, err)
	}
}

func TestAPausedServerTimesOut(t *testing.T) {
	r := newRig(t, "trouble")
	r.setUp()
	warm := newEngine(t, Options{ConnectTimeout: 200 * time.Millisecond, QueryTimeout: 200 * time.Millisecond})
	for call, err := range r.all(t.Context(), warm) {
		require.True(t, err == nil || call == "create", err)
	}
	cold := newEngine(t, warm.opts)
	require.NoError(t, r.Pause())
	defer func() { require.NoError(t, r.Resume()) }()
	for _, e := range []*Engine{warm, cold} {
		for _, err := range r.all(t.Context(), e) {
			want(t, api.ServerUnreachable, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for _, err := range r.all(ctx, newEngine(t, Options{})) {
		require.ErrorIs(t, err, context.DeadlineExceeded)
		var f *api.Failure
		require.False(t, errors.As(err, &f))
	}
}

func TestARestartedServerIsUsedAgain(t *testing.T) {
	r := newRig(t, "trouble")
	r.setUp()
	require.NoError(t, r.adopt())
	require.NoError(t, r.Kill())
	_, err := r.probe()
	want(t, api.ServerUnreachable, err)
	require.NoError(t, r.Start(t.Context()))
	require.Equal(t, api.LoginOK, r.facts().Access)
	require.NoError(t, r.adopt())
}

func TestTooManyConnectionsIsBusy(t *testing.T) {
	r := newRig(t, "trouble")
	r.setUp()
	r.exec("SET GLOBAL max_connections = 10")
	defer r.exec("SET GLOBAL max_connections = 151")
	c, err := r.engine.connector(r.admin.Address, r.admin.TLS, r.seed.Credentials, "")
	require.NoError(t, err)
	db := sql.OpenDB(c)
	defer db.Close()
	for {
		if _, err = db.Conn(t.Context()); err != nil {
			break
		}
	}
	require.EqualValues(t, 1040, code(err))
	want(t, api.ServerBusy, r.login())
	_, err = r.probe()
	want(t, api.ServerBusy, err)
}

func TestTooManyConnectionsOfTheSeedsUserIsBusy(t *testing.T) {
	r := newRig(t, "plain")
	r.setUp()
	r.exec("ALTER USER " + r.seed.Username + " WITH MAX_QUERIES_PER_HOUR 1")
	require.NoError(t, r.login())
	want(t, api.ServerBusy, r.login())
}

func TestAReadOnlyServerIsSoft(t *testing.T) {
	r := newRig(t, "trouble")
	require.NoError(t, newRig(t, "trouble").create()) // the table of claims is there
	r.exec("CREATE USER limited IDENTIFIED BY '"+secret("limited-pw")+"'",
		"GRANT CREATE USER, SELECT, INSERT, UPDATE, DELETE, CREATE, DROP ON *.* TO limited WITH GRANT OPTION", "SET GLOBAL read_only = ON")
	defer r.exec("SET GLOBAL read_only = OFF", "DROP USER limited")
	r.admin.Username = "limited"
	r.admin.Password = func(context.Context) (string, error) { return "limited-pw", nil }
	f := want(t, api.ServerReadOnly, r.create())
	require.Contains(t, f.Operator, "--read-only")
	require.False(t, f.Hard())
	require.Empty(t, r.engine.pools.byKey, "the next try dials anew")
}

func TestThePasswordIsReadAgainWhenItHasChanged(t *testing.T) {
	r := newRig(t, "trouble")
	r.setUp()
	user := "rotating"
	r.exec("CREATE USER rotating IDENTIFIED BY '"+secret("first-pw")+"'", "GRANT ALL ON *.* TO rotating WITH GRANT OPTION")
	defer r.exec("DROP USER rotating")
	var now atomic.Value
	var reads atomic.Int64
	now.Store("first-pw")
	r.admin.Username = user
	r.admin.Password = func(context.Context) (string, error) {
		reads.Add(1)
		return now.Load().(string), nil
	}
	for range 3 {
		r.facts()
	}
	require.EqualValues(t, 1, reads.Load(), "only where no connection can serve")

	r.exec("ALTER USER rotating IDENTIFIED BY '" + secret("second-pw") + "'")
	r.facts() // an open connection outlives the change
	r.exec(r.list("SELECT CONCAT('KILL ', ID) FROM information_schema.PROCESSLIST WHERE USER = 'rotating'")...)
	before := r.logins()
	_, err := r.probe()
	f := want(t, api.ProviderCredentialsRejected, err)
	require.Contains(t, f.Message, `"rotating"`)
	require.Contains(t, f.Message, fmt.Sprintf("%s:%d", r.Host, r.Port))
	require.EqualValues(t, 2, reads.Load(), "once more with the password read afresh")
	require.LessOrEqual(t, r.logins()-before, 2)

	now.Store("second-pw")
	require.Equal(t, api.LoginOK, r.facts().Access)

	r.exec("ALTER USER rotating IDENTIFIED BY '" + secret("third-pw") + "'")
	now.Store("third-pw")
	r.exec(r.list("SELECT CONCAT('KILL ', ID) FROM information_schema.PROCESSLIST WHERE USER = 'rotating'")...)
	reads.Store(0)
	require.Equal(t, api.LoginOK, r.facts().Access, "the change is not noticed")
	require.EqualValues(t, 1, reads.Load())

	r.engine.Evict(r.admin.Address, user)
	r.facts()
	require.EqualValues(t, 2, reads.Load())
}

// logins counts the refused ones of everybody.
func (r *rig) logins() int {
	var name string
	var n int
	require.NoError(r, r.DB().QueryRow("SHOW GLOBAL STATUS LIKE 'Access_denied_errors'").Scan(&name, &n))
	return n
}

func TestAPasswordThatCannotBeReadIsTheCallersError(t *testing.T) {
	r := newRig(t, "plain")
	gone := errors.New("the Secret is gone")
	r.admin.Password = func(context.Context) (string, error) { return "", gone }
	require.ErrorIs(t, r.engine.Adopt(t.Context(), r.admin, r.owner, r.seed, "%"), gone)
}

func TestAdminsThatCannotLogIn(t *testing.T) {
	r := newRig(t, "plain")
	r.setUp()
	for option, message := range map[string]string{
		"IDENTIFIED BY 'another'":                  "refuses",
		"IDENTIFIED BY 'admin-pw' ACCOUNT LOCK":    "locked",
		"IDENTIFIED BY 'admin-pw' PASSWORD EXPIRE": "expired",
		"IDENTIFIED VIA unix_socket":               "refuses",
	} {
		r.exec("CREATE OR REPLACE USER badadmin " + option)
		r.admin.Username = "badadmin"
		r.admin.Password = func(context.Context) (string, error) { return secret("admin-pw"), nil }
		_, err := r.probe()
		f := want(t, api.ProviderCredentialsRejected, err)
		require.Contains(t, f.Message, message)
		require.Contains(t, f.Message, "badadmin")
	}
	r.exec("DROP USER badadmin")
}

// F11.
func TestPrivilegesOfTheAdmin(t *testing.T) {
	// INSERT on mysql.* would do for CREATE USER in MariaDB.
	const all = "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, REFERENCES, INDEX, ALTER, CREATE TEMPORARY TABLES, LOCK TABLES, EXECUTE, " +
		"CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, EVENT, TRIGGER, DELETE HISTORY ON `shop%`.* TO limited"
	const user, reads, claims = "GRANT CREATE USER ON *.* TO limited", "GRANT SELECT ON mysql.* TO limited", "GRANT ALL ON seedmend.* TO limited"
	for sentence, test := range map[string]struct {
		grants []string
		names  string // the privilege that the message has to name
		claim  bool   // is left for the retry
	}{
		"without RELOAD, SUPER, PROCESS: works": {[]string{"GRANT " + all + " WITH GRANT OPTION", user, reads, claims}, "", false},
		"without CREATE USER":                   {[]string{"GRANT " + all + " WITH GRANT OPTION", reads, claims}, "lacks a privilege: CREATE USER", true},
		"without GRANT OPTION":                  {[]string{"GRANT " + all, user, reads, claims}, "lacks a privilege: GRANT OPTION", true},
		"without one of the privileges granted": {[]string{"GRANT SELECT, INSERT, CREATE ON `shop%`.* TO limited WITH GRANT OPTION", user, reads, claims}, "every privilege on the database", true},
		"without CREATE on the database":        {[]string{user, reads, claims}, "lacks a privilege: CREATE", false},
		"without any right to the claims":       {[]string{"GRANT " + all + " WITH GRANT OPTION", user, reads}, "seedmend.*", false},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := newRig(t, "plain")
			root := r.admin
			require.NoError(t, newRig(t, "plain").create()) // the table of claims is there
			r.exec("CREATE OR REPLACE USER limited IDENTIFIED BY '" + secret("limited-pw") + "'")
			r.exec(test.grants...)
			r.admin.Username = "limited"
			r.admin.Password = func(context.Context) (string, error) { return "limited-pw", nil }
			err := r.create()
			if test.names == "" {
				require.NoError(t, err)
				r.healthy()
				r.facts()
				return
			}
			f := want(t, api.ProviderPrivilegeMissing, err)
			require.Contains(t, f.Message, test.names)
			require.Contains(t, f.Message, `"limited"`)
			require.Equal(t, test.claim, r.claim() != "", "the claim stays where something was made: %q", r.claim())
			r.admin = root
			require.NoError(t, r.create(), "once the privilege is there")
			r.healthy()
		})
	}
	r := newRig(t, "plain")
	r.exec("CREATE OR REPLACE USER limited IDENTIFIED BY 'limited-pw'")
	defer r.exec("DROP USER limited")
	r.admin.Username = "limited"
	r.admin.Password = func(context.Context) (string, error) { return "limited-pw", nil }
	_, err := r.probe()
	f := want(t, api.ProviderPrivilegeMissing, err)
	require.Contains(t, f.Message, "SELECT on mysql.*")
}

func TestAnAccountThatStandsBeforeOursIsFoundByTheProof(t *testing.T) {
	r := newRig(t, "plain")
	nearer := account(r.seed.Username, "127.%")
	r.exec("CREATE USER " + nearer + " IDENTIFIED BY 'another'")
	f := want(t, api.ProofFailed, r.create())
	require.Contains(t, f.Message, "may stand before it")
	require.True(t, strings.HasSuffix(r.claim(), "creating"))
	r.exec("DROP USER " + nearer)
	require.NoError(t, r.create())
	r.healthy()
}

func TestThePasswordPolicyOfTheServer(t *testing.T) {
	r := newRig(t, "trouble")
	r.exec("INSTALL PLUGIN simple_password_check SONAME 'simple_password_check'")
	defer r.exec("UNINSTALL PLUGIN simple_password_check")
	r.seed.Password = secret("weakpassword")
	want(t, api.SeedInvalid, r.create())
}
