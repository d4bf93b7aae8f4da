package mysql

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

func TestNamesThatAreRefusedBeforeAnyContact(t *testing.T) {
	e := New(Options{})
	seed := func(user, db string) database.Seed {
		return database.Seed{Credentials: database.Credentials{Username: user, Password: "pw"}, Database: db}
	}
	for _, test := range []struct {
		user, db, admin string
		want            api.Reason
	}{
		{"app", "shop", "root", ""},
		{"app", "ak-test", "root", ""},
		{"app", "select", "root", ""},
		{`a'"b`, "x`; DROP USER 'root'@'%'; -- ", "root", api.NameInvalid}, // ends in a space
		{`a'"b`, "x`; DROP USER 'root'@'%'; --", "root", ""},
		{"app\n", "shop", "root", ""},
		{"app", "shop\n", "root", api.NameInvalid},
		{"app", "shop\t", "root", api.NameInvalid},
		{"app", "shop ", "root", api.NameInvalid},
		{"app ", "shop", "root", api.NameInvalid},
		{"", "shop", "root", api.NameInvalid},
		{"app", "", "root", api.NameInvalid},
		{"a\x00b", "shop", "root", api.NameInvalid},
		{"app", "sh\x00op", "root", api.NameInvalid},
		{"app", "sh\xffop", "root", api.NameInvalid},
		{"app", "shop😀", "root", api.NameInvalid},
		{"app", "#mysql50#mysql", "root", api.NameInvalid},
		{"app", strings.Repeat("d", 64), "root", ""},
		{"app", strings.Repeat("d", 65), "root", api.NameInvalid},
		{"app", strings.Repeat("ä", 33), "root", api.NameInvalid},
		{strings.Repeat("u", 80), "shop", "root", ""},
		{strings.Repeat("u", 81), "shop", "root", api.NameInvalid},
		{"app", "mysql", "admin", api.NameReserved},
		{"app", "MySQL", "admin", api.NameReserved},
		{"app", "Information_Schema", "admin", api.NameReserved},
		{"app", "performance_schema", "admin", api.NameReserved},
		{"app", "sys", "admin", api.NameReserved},
		{"app", "SeedMend", "admin", api.NameReserved},
		{"ROOT", "shop", "admin", api.NameReserved},
		{"root\n", "shop", "admin", api.NameReserved},
		{"mariadb.sys", "shop", "admin", api.NameReserved},
		{"mysql.session", "shop", "admin", api.NameReserved},
		{"public", "shop", "admin", api.NameReserved},
		{"seedmend", "shop", "admin", api.NameReserved},
		{"Admin", "shop", "admin", api.NameReserved},
		{"admin", "shop", "admin@srv01", api.NameReserved},
		{"admin@srv01", "shop", "admin@srv01", api.NameReserved},
		{"root@srv01", "shop", "admin@srv01", api.NameReserved},
		{"app@srv01", "shop", "admin@srv01", ""},
		{"app@srv02", "shop", "admin@srv01", ""},
	} {
		err := e.CheckNames(seed(test.user, test.db), test.admin)
		if test.want == "" {
			require.NoError(t, err, "%q %q", test.user, test.db)
			continue
		}
		want(t, test.want, err)
	}
	for _, password := range []string{"", "a\x00b"} {
		s := seed("app", "shop")
		s.Password = password
		want(t, api.SeedInvalid, e.CheckNames(s, "root"))
	}
}

func TestSQLUser(t *testing.T) {
	for _, test := range []struct{ user, admin, want string }{
		{"app", "root", "app"},
		{"app@srv01", "root", "app@srv01"},
		{"app@srv01", "admin@srv01", "app"},
		{"app@srv02", "admin@srv01", "app@srv02"},
		{"app", "admin@srv01", "app"},
		{"a@b@srv01", "admin@srv01", "a@b"},
		{"@srv01", "admin@srv01", "@srv01"},
	} {
		require.Equal(t, test.want, sqlUser(test.user, test.admin))
	}
}

// What CheckNames lets through the server stores as it is; what it refuses about
// a database's name the server refuses as well.
func TestTheServerAgreesAboutNames(t *testing.T) {
	r := newRig(t, "plain")
	try := func(db string) uint16 {
		_, err := r.DB().ExecContext(r.ctx(), "CREATE DATABASE "+ident(db))
		if err == nil {
			require.Equal(t, []string{db}, r.list("SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?", db))
			r.exec("DROP DATABASE " + ident(db))
		}
		return code(err)
	}
	for _, db := range []string{"n1 ", "n1\n", "n1\t", "n1\r", "n1\v", "#mysql50#n1", strings.Repeat("n", 65)} {
		require.EqualValues(t, 1102, try(db), "%q", db)
	}
	require.EqualValues(t, 1300, try("n1😀"))
	for _, db := range []string{" n1", "n\n1", "n1.", ".", "..", "n/1", `n\1`, "n`1", "n'1", "nä1", "\u00a0", "n1\u00a0", strings.Repeat("ä", 32)} {
		require.Zero(t, try(db), "%q", db)
	}
}

func TestNamesWithASlipAreUsedWhereTheyExistAndNeverMade(t *testing.T) {
	r := newRig(t, "plain")
	r.seed.Username += "\n"
	r.setUp()
	require.NoError(t, r.names())
	require.Equal(t, api.LoginOK, r.facts().Access)
	require.NoError(t, r.adopt())

	n := newRig(t, "plain")
	n.seed.Username += "\n"
	before := n.state()
	want(t, api.NameInvalid, n.create())
	require.Equal(t, before, n.state())
}
