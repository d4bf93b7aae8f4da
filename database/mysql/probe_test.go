package mysql

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
)

// Each row is a state of the server and the facts that a probe has to find.
func TestProbeFindsTheFactsOfEachRowOfTheDecision(t *testing.T) {
	user := func(r *rig) string { return account(r.seed.Username, "%") }
	identified := func(r *rig, password string) string {
		return "CREATE USER " + user(r) + " IDENTIFIED BY " + r.lit(password)
	}
	for sentence, test := range map[string]struct {
		given func(*rig)
		want  api.Facts
		is    func(testing.TB, api.Facts)
	}{
		"a working seed is to be adopted": {
			given: func(r *rig) { r.setUp() },
			want:  api.Facts{Auth: api.LoginOK, DatabaseExists: true, UserExists: true, Access: api.LoginOK, AccountHost: "%"},
		},
		"a user without access to the database": {
			given: func(r *rig) {
				r.exec(identified(r, r.seed.Password), "CREATE DATABASE "+ident(r.seed.Database))
			},
			want: api.Facts{Auth: api.LoginOK, DatabaseExists: true, UserExists: true, Access: api.LoginRefused, AccountHost: "%"},
		},
		"a user whose database is missing (1044: no privilege on it)": {
			given: func(r *rig) { r.exec(identified(r, r.seed.Password)) },
			want:  api.Facts{Auth: api.LoginOK, UserExists: true, Access: api.LoginRefused, AccountHost: "%"},
		},
		"a user whose database is missing (1049: a privilege on it is left)": {
			given: func(r *rig) {
				r.exec(identified(r, r.seed.Password), "GRANT ALL ON "+ident(r.seed.Database)+".* TO "+user(r))
			},
			want: api.Facts{Auth: api.LoginOK, UserExists: true, Access: api.LoginRefused, AccountHost: "%"},
		},
		"a wrong password for a database that exists": {
			given: func(r *rig) {
				r.exec(identified(r, "another"), "CREATE DATABASE "+ident(r.seed.Database))
			},
			want: api.Facts{Auth: api.LoginRefused, DatabaseExists: true, UserExists: true},
		},
		"no such user, and a database that exists": {
			given: func(r *rig) { r.exec("CREATE DATABASE " + ident(r.seed.Database)) },
			want:  api.Facts{Auth: api.LoginRefused, DatabaseExists: true},
		},
		"a wrong password, and no database": {
			given: func(r *rig) { r.exec(identified(r, "another")) },
			want:  api.Facts{Auth: api.LoginRefused, UserExists: true},
		},
		"nothing is there: to be created": {
			given: func(*rig) {},
			want:  api.Facts{Auth: api.LoginRefused},
		},
		"a role of the user's name is no user": {
			given: func(r *rig) { r.exec("CREATE ROLE " + ident(r.seed.Username)) },
			want:  api.Facts{Auth: api.LoginRefused},
		},
		"a locked account": {
			given: func(r *rig) { r.setUp(); r.exec("ALTER USER " + user(r) + " ACCOUNT LOCK") },
			want:  api.Facts{Auth: api.LoginLocked, DatabaseExists: true, UserExists: true},
			is:    func(t testing.TB, f api.Facts) { require.True(t, f.Accounts[0].Locked) },
		},
		"a wrong password on a locked account is a wrong password": {
			given: func(r *rig) { r.exec(identified(r, "another"), "ALTER USER "+user(r)+" ACCOUNT LOCK") },
			want:  api.Facts{Auth: api.LoginRefused, UserExists: true},
			is:    func(t testing.TB, f api.Facts) { require.True(t, f.Accounts[0].Locked) },
		},
		"an expired password": {
			given: func(r *rig) { r.setUp(); r.exec("ALTER USER " + user(r) + " PASSWORD EXPIRE") },
			want:  api.Facts{Auth: api.LoginExpired, DatabaseExists: true, UserExists: true},
		},
		"an account without a password": {
			given: func(r *rig) { r.exec("CREATE USER " + user(r)) },
			want:  api.Facts{Auth: api.LoginNoPassword, UserExists: true},
			is:    func(t testing.TB, f api.Facts) { require.True(t, f.Accounts[0].NoPassword) },
		},
		"an account that logs in by unix_socket": {
			given: func(r *rig) { r.exec("CREATE USER " + user(r) + " IDENTIFIED VIA unix_socket") },
			want:  api.Facts{Auth: api.LoginUnsupportedPlugin, UserExists: true},
			is:    func(t testing.TB, f api.Facts) { require.Equal(t, "unix_socket", f.Accounts[0].Plugin) },
		},
		"an account that logs in by unix_socket or a password, and the password is wrong": {
			given: func(r *rig) {
				r.exec("CREATE USER " + user(r) + " IDENTIFIED VIA unix_socket OR mysql_native_password USING PASSWORD('another')")
			},
			want: api.Facts{Auth: api.LoginRefused, UserExists: true},
		},
		"an ed25519 account works": {
			given: func(r *rig) {
				r.setUp()
				r.exec("INSTALL PLUGIN IF NOT EXISTS ed25519 SONAME 'auth_ed25519'",
					"ALTER USER "+user(r)+" IDENTIFIED VIA ed25519 USING PASSWORD("+r.lit(r.seed.Password)+")")
			},
			want: api.Facts{Auth: api.LoginOK, DatabaseExists: true, UserExists: true, Access: api.LoginOK, AccountHost: "%"},
			is:   func(t testing.TB, f api.Facts) { require.Equal(t, "ed25519", f.Accounts[0].Plugin) },
		},
		"an account that demands TLS of a server without": {
			given: func(r *rig) { r.exec(identified(r, r.seed.Password) + " REQUIRE SSL") },
			want:  api.Facts{Auth: api.LoginNeedsTLS, UserExists: true},
			is:    func(t testing.TB, f api.Facts) { require.Equal(t, "ANY", f.Accounts[0].RequiresTLS) },
		},
		"an account that demands a client certificate": {
			given: func(r *rig) { r.exec(identified(r, r.seed.Password) + " REQUIRE X509") },
			want:  api.Facts{Auth: api.LoginNeedsTLS, UserExists: true},
			is:    func(t testing.TB, f api.Facts) { require.Equal(t, "X509", f.Accounts[0].RequiresTLS) },
		},
		"two rows of one name, and the nearer one has another password (F6)": {
			given: func(r *rig) {
				r.setUp()
				r.exec("CREATE USER " + account(r.seed.Username, "127.%") + " IDENTIFIED BY 'another'")
			},
			want: api.Facts{Auth: api.LoginRefused, DatabaseExists: true, UserExists: true},
			is: func(t testing.TB, f api.Facts) {
				require.ElementsMatch(t, []string{"%", "127.%"}, []string{f.Accounts[0].Host, f.Accounts[1].Host})
			},
		},
		"two rows of one name, and the nearer one has the password (F6)": {
			given: func(r *rig) {
				r.exec(identified(r, "another"), "CREATE DATABASE "+ident(r.seed.Database),
					"CREATE USER "+account(r.seed.Username, "127.%")+" IDENTIFIED BY "+r.lit(r.seed.Password),
					"GRANT ALL ON "+ident(r.seed.Database)+".* TO "+account(r.seed.Username, "127.%"))
			},
			want: api.Facts{Auth: api.LoginOK, DatabaseExists: true, UserExists: true, Access: api.LoginOK, AccountHost: "127.%"},
		},
		"upper case is another name (F19)": {
			given: func(r *rig) {
				r.seed.Username, r.seed.Database = "CaseUser", "CaseDB"
				r.exec("CREATE USER caseuser@'%' IDENTIFIED BY "+r.lit(r.seed.Password), "CREATE DATABASE casedb")
			},
			want: api.Facts{Auth: api.LoginRefused},
		},
		"a claim is found": {
			given: func(r *rig) { r.setUp(); require.NoError(r, r.adopt()) },
			want:  api.Facts{Auth: api.LoginOK, DatabaseExists: true, UserExists: true, Access: api.LoginOK, AccountHost: "%"},
			is: func(t testing.TB, f api.Facts) {
				require.NotNil(t, f.Claim)
				require.Equal(t, api.OriginAdopted, f.Claim.Origin)
				require.Equal(t, api.ClaimReady, f.Claim.Phase)
				require.Equal(t, "cluster-1", f.Claim.Owner.Cluster)
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := newRig(t, "plain")
			test.given(r)
			before := r.state()
			got := r.facts()
			require.Equal(t, before, r.state(), "a probe changes nothing")
			require.Contains(t, got.ServerVersion, "MariaDB")
			require.False(t, got.TLS)
			if test.is != nil {
				test.is(t, got)
			} else {
				require.Nil(t, got.Claim)
			}
			got.Accounts, got.Claim, got.ServerVersion = nil, nil, ""
			require.Equal(t, test.want, got)
		})
	}
}

func TestProbeOnAServerThatNeverSawUs(t *testing.T) {
	r := newRig(t, "fresh")
	r.setUp()
	f := r.facts()
	require.Nil(t, f.Claim)
	require.Empty(t, r.list("SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'seedmend'"), "a probe creates no table")
	require.NoError(t, r.adopt())
	require.NotNil(t, r.facts().Claim)
}

// F14.
func TestAHintNamesTheKeyThatEndsInANewline(t *testing.T) {
	r := newRig(t, "plain")
	r.setUp()
	r.seed.Password += "\n"
	require.Equal(t, "the value of key password ends in a newline", r.facts().Hint)

	r.seed.Username += "\n"
	require.Equal(t, "the value of key password ends in a newline; the value of key username ends in a newline", r.facts().Hint)
}

// F14.
func TestAPasswordThatEndsInANewlineIsUsedAsItIs(t *testing.T) {
	r := newRig(t, "plain")
	r.seed.Password += "\n"
	r.setUp()
	f := r.facts()
	require.Equal(t, api.LoginOK, f.Auth)
	require.Empty(t, f.Hint)
	require.NoError(t, r.login())
}

// F10, with a proxy that does what that cloud does.
func TestUserAtServerLogsInAsAWholeAndIsAnAccountWithoutTheSuffix(t *testing.T) {
	r := newRig(t, "plain")
	suffix := "@srv01"
	p := newProxy(t, r.MariaDB)
	p.strip = suffix
	r.admin.Address, r.admin.Username = p.address(), "root"+suffix
	user := r.seed.Username
	r.seed.Username += suffix

	require.NoError(t, r.names())
	f := r.facts()
	require.Equal(t, api.LoginRefused, f.Auth)
	require.False(t, f.UserExists)
	require.NoError(t, r.create())
	require.Equal(t, user+"@% created ready", r.claim())
	f = r.facts()
	require.Equal(t, api.LoginOK, f.Access)
	require.True(t, f.UserExists)
	require.Empty(t, f.Hint)
	require.Empty(t, r.list("SELECT User FROM mysql.user WHERE User LIKE ?", "%"+suffix))
}

func TestAnAnonymousAccountIsNotTakenForTheSeeds(t *testing.T) {
	r := newRig(t, "trouble")
	r.exec("CREATE USER ''@'%' IDENTIFIED BY " + r.lit(r.seed.Password))
	t.Cleanup(func() { r.exec("DROP USER ''@'%'") })
	f := r.facts()
	require.Equal(t, api.LoginOK, f.Auth)
	require.False(t, f.UserExists)
	require.Contains(t, f.Hint, "another account")
}
