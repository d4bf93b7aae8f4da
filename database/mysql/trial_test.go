package mysql

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

func (r *rig) try(cred database.Credentials) (api.Trial, string) {
	r.Helper()
	require.NoError(r, r.ResetGeneralLog(r.ctx()))
	trial, detail, err := r.engine.Try(r.ctx(), r.admin, cred)
	require.NoError(r, r.check(err))
	r.Log(detail)
	hasNoSecret(r, detail)
	log, err := r.Statements(r.ctx())
	require.NoError(r, err)
	require.NoError(r, r.StopGeneralLog(r.ctx()))
	for _, s := range log {
		hasNoSecret(r, s.Argument)
	}
	return trial, detail
}

func TestTry(t *testing.T) {
	r := newRig(t, "trouble")
	user := r.seed.Username
	right := database.Credentials{Username: user, Password: secret("trial 'right'")}
	wrong := database.Credentials{Username: user, Password: secret("trial-wrong")}
	is := func(wanted api.Trial, cred database.Credentials) string {
		t.Helper()
		trial, detail := r.try(cred)
		require.Equal(t, wanted, trial, detail)
		return detail
	}
	require.Contains(t, is(api.TrialRefused, right), "no such account")
	r.exec("CREATE USER " + account(user, "%") + " IDENTIFIED BY " + r.lit(right.Password))
	is(api.TrialProven, right)
	is(api.TrialRefused, wrong)
	r.exec("ALTER USER " + user + " ACCOUNT LOCK")
	require.Contains(t, is(api.TrialRefused, right), "locked")
	r.exec("ALTER USER " + user + " ACCOUNT UNLOCK PASSWORD EXPIRE")
	require.Contains(t, is(api.TrialRefused, right), "expired")
	r.exec("ALTER USER "+user+" IDENTIFIED BY "+r.lit(right.Password), "ALTER USER "+user+" REQUIRE X509")
	require.Contains(t, is(api.TrialProven, right), "stored hash")
	is(api.TrialRefused, wrong)

	// The host's pattern keeps us out.
	r.exec("RENAME USER " + account(user, "%") + " TO " + account(user, "10.9.8.%"))
	require.Contains(t, is(api.TrialProven, right), "10.9.8.%")
	is(api.TrialRefused, wrong)
	r.exec("ALTER USER " + account(user, "10.9.8.%") + " REQUIRE NONE")
	is(api.TrialProven, right)
	r.exec("ALTER USER " + account(user, "10.9.8.%") + " ACCOUNT LOCK")
	is(api.TrialRefused, right)

	// F6: the row that we would get has another password than the replica's.
	r.exec("ALTER USER "+account(user, "10.9.8.%")+" ACCOUNT UNLOCK",
		"CREATE USER "+account(user, "%")+" IDENTIFIED BY "+r.lit(secret("trial-other")))
	is(api.TrialProven, right)
	is(api.TrialRefused, wrong)

	// What cannot be compared.
	r.exec("DROP USER " + account(user, "%"))
	r.exec("ALTER USER " + account(user, "10.9.8.%") + " IDENTIFIED VIA unix_socket")
	is(api.TrialInconclusive, right)
	r.exec("DROP USER " + account(user, "10.9.8.%"))

	_, _, err := r.engine.Try(t.Context(), r.admin, database.Credentials{Username: user})
	want(t, api.SecretUnusable, err)
	r.admin.Port = 1
	_, _, err = r.engine.Try(t.Context(), r.admin, right)
	f := want(t, api.PrimaryUnreachable, r.check(err))
	require.Contains(t, f.Message, "replication user")
}

func TestWeigh(t *testing.T) {
	const sha2, native = "caching_sha2_password", "mysql_native_password"
	hash := "*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19" // of password
	for name, test := range map[string]struct {
		auth api.Login
		tls  bool
		rows []accountRow
		want api.Trial
	}{
		"one row for everybody":            {api.LoginRefused, true, []accountRow{{host: "%", plugin: sha2}}, api.TrialRefused},
		"a row for others":                 {api.LoginRefused, true, []accountRow{{host: "10.%", plugin: sha2}}, api.TrialInconclusive},
		"it wants TLS, and got it":         {api.LoginRefused, true, []accountRow{{host: "%", plugin: sha2, tls: "ANY"}}, api.TrialRefused},
		"it wants TLS, and got none":       {api.LoginRefused, false, []accountRow{{host: "%", plugin: sha2, tls: "ANY"}}, api.TrialInconclusive},
		"it wants a certificate":           {api.LoginRefused, true, []accountRow{{host: "%", plugin: sha2, tls: "X509"}}, api.TrialInconclusive},
		"two rows":                         {api.LoginRefused, true, []accountRow{{host: "%", plugin: sha2}, {host: "10.%", plugin: sha2}}, api.TrialInconclusive},
		"a plugin that nobody speaks":      {api.LoginUnsupportedPlugin, true, []accountRow{{host: "%", plugin: "gssapi"}}, api.TrialInconclusive},
		"several ways":                     {api.LoginRefused, true, []accountRow{{host: "%", plugin: ""}}, api.TrialInconclusive},
		"the server demands TLS":           {api.LoginNeedsTLS, false, []accountRow{{host: "%", plugin: sha2}}, api.TrialInconclusive},
		"one of two hashes":                {api.LoginRefused, true, []accountRow{{host: "%", plugin: sha2}, {host: "10.%", plugin: native, hash: hash}}, api.TrialProven},
		"another hash":                     {api.LoginRefused, true, []accountRow{{host: "10.%", plugin: native, hash: "*00"}}, api.TrialRefused},
		"no password":                      {api.LoginRefused, true, []accountRow{{host: "10.%", plugin: native}}, api.TrialRefused},
		"the right hash, but locked":       {api.LoginRefused, true, []accountRow{{host: "10.%", plugin: native, hash: hash, locked: true}}, api.TrialRefused},
		"locked here, and no other":        {api.LoginLocked, true, []accountRow{{host: "%", plugin: sha2}}, api.TrialRefused},
		"nobody of that name":              {api.LoginUnsupportedPlugin, true, nil, api.TrialRefused},
		"demands TLS, and the hash is the": {api.LoginNeedsTLS, false, []accountRow{{host: "%", plugin: native, hash: hash}}, api.TrialProven},
	} {
		got, why := weigh(test.auth, test.tls, test.rows, "password")
		require.Equal(t, test.want, got, "%s: %s", name, why)
		require.NotEmpty(t, why)
	}
}

func TestAccountVersion(t *testing.T) {
	r := newRig(t, "trouble")
	version := func() string {
		t.Helper()
		v, err := r.engine.AccountVersion(t.Context(), r.admin, r.seed.Username)
		require.NoError(t, r.check(err))
		require.Len(t, v, 16)
		return v
	}
	seen := map[string]bool{}
	changed := func(statement string) {
		t.Helper()
		if statement != "" {
			r.exec(statement)
		}
		v := version()
		require.False(t, seen[v], statement)
		seen[v] = true
		require.Equal(t, v, version())
	}
	at := account(r.seed.Username, "%")
	changed("")
	changed("CREATE USER " + at + " IDENTIFIED BY '" + secret("version-1") + "'")
	r.exec("FLUSH PRIVILEGES", "CREATE USER "+account(r.seed.Username+"x", "%"))
	require.True(t, seen[version()], "somebody else's account")
	time.Sleep(1100 * time.Millisecond) // the server's clock for this has seconds
	changed("ALTER USER " + at + " IDENTIFIED BY '" + secret("version-2") + "'")
	changed("ALTER USER " + at + " ACCOUNT LOCK")
	changed("ALTER USER " + at + " REQUIRE SSL")
	changed("CREATE USER " + account(r.seed.Username, "10.%"))
	r.exec("DROP USER "+at, "DROP USER "+account(r.seed.Username, "10.%"), "DROP USER "+account(r.seed.Username+"x", "%"))
}
