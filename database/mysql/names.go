package mysql

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

// Limits in bytes. The servers count characters: 64 for a database; for a user
// 128 (MariaDB 10.11, tried), 80 (MariaDB before), 32 (MySQL from 5.7.8), 16
// (MySQL 5.6). A server with a smaller limit answers 1470.
const (
	maxDatabase = 64
	maxUser     = 80
)

var reservedDatabases = set("mysql", "information_schema", "performance_schema", "sys", "ndbinfo",
	"mysql_innodb_cluster_metadata", claimsDatabase)

// reservedUsers are the servers' own accounts and those of the clouds' operators.
var reservedUsers = set("root", "mysql", "mysql.sys", "mysql.session", "mysql.infoschema", "mysqlxsys",
	"mariadb.sys", "PUBLIC", "debian-sys-maint", "rdsadmin", "rdsrepladmin", "azure_superuser",
	"cloudsqladmin", "cloudsqlsuperuser", claimsDatabase)

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[fold(n)] = true
	}
	return m
}

// fold makes names that a server could take for one another equal.
func fold(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// sqlUser is the account behind a login name. Some clouds want user@server at
// login, while the account is user alone; the provider's own admin user shows
// whether this is one of them.
func sqlUser(username, adminUser string) string {
	if at := strings.LastIndexByte(adminUser, '@'); at >= 0 {
		if user, ok := strings.CutSuffix(username, adminUser[at:]); ok && user != "" {
			return user
		}
	}
	return username
}

// CheckNames refuses, without any contact, what no server of this kind could
// hold (NameInvalid), what belongs to the server or to seedmend (NameReserved),
// and passwords that cannot be one (SeedInvalid).
func (e *Engine) CheckNames(seed database.Seed, adminUser string) error {
	if f := checkName("database", seed.Database, maxDatabase); f != nil {
		return f
	}
	if f := checkName("username", seed.Username, maxUser); f != nil {
		return f
	}
	// Old servers take the rest of such a name for a directory: #mysql50#mysql is mysql.
	if strings.HasPrefix(fold(seed.Database), "#mysql50#") {
		return api.Failf(api.NameInvalid, "the value of key database begins with #mysql50#, which the server reads as another database's name")
	}
	if reservedDatabases[fold(seed.Database)] {
		return api.Failf(api.NameReserved, "database %q belongs to the server or to seedmend", seed.Database)
	}
	user := sqlUser(seed.Username, adminUser)
	if reservedUsers[fold(user)] || reservedUsers[fold(seed.Username)] {
		return api.Failf(api.NameReserved, "user %q belongs to the server or to seedmend", seed.Username)
	}
	admin := fold(sqlUser(adminUser, adminUser))
	if fold(user) == admin || fold(seed.Username) == fold(adminUser) {
		return api.Failf(api.NameReserved, "user %q is the provider's own", seed.Username)
	}
	switch {
	case seed.Password == "":
		return api.Failf(api.SeedInvalid, "the value of key password is empty")
	case strings.ContainsRune(seed.Password, 0):
		// Where a plugin sends the password itself, it ends at the first NUL.
		return api.Failf(api.SeedInvalid, "the value of key password holds a NUL byte")
	}
	return nil
}

// checkName is about names that exist or not: what MariaDB 10.11 and MySQL 5.6
// refuse (1102, 1300, 1470) or store as another name (tried).
func checkName(key, name string, limit int) *api.Failure {
	var why string
	switch {
	case name == "":
		why = "is empty"
	case len(name) > limit:
		return api.Failf(api.NameInvalid, "the value of key %s is %d bytes long; the limit is %d", key, len(name), limit)
	case !utf8.ValidString(name):
		why = "is not UTF-8"
	case strings.ContainsRune(name, 0):
		why = "holds a NUL byte"
	case strings.IndexFunc(name, func(r rune) bool { return r > 0xFFFF }) >= 0:
		why = "holds a character beyond U+FFFF (such as an emoji), which the server cannot store in a name"
	case name[len(name)-1] == ' ':
		why = "ends in a space, which the server cannot store in a name"
	case key == "database" && strings.HasSuffix(name, "\n"):
		why = "ends in a newline, which the server cannot store in a database's name"
	case key == "database" && strings.ContainsRune("\t\v\f\r", rune(name[len(name)-1])):
		why = "ends in white space, which the server cannot store in a database's name"
	default:
		return nil
	}
	return api.Failf(api.NameInvalid, "the value of key %s %s", key, why)
}

// checkNew is about names that are to be made: such a name is a slip in the
// making of the Secret, and what it should have named is somewhere else.
func checkNew(seed database.Seed) error {
	for _, n := range []struct{ key, name string }{{"database", seed.Database}, {"username", seed.Username}} {
		if strings.TrimSpace(n.name) != n.name || strings.ContainsFunc(n.name, unicode.IsControl) {
			return api.Failf(api.NameInvalid, "the value of key %s holds a control character, or white space at an end; "+
				"an account or a database of such a name is used where it exists, but none is created", n.key)
		}
	}
	return nil
}

// hint is a remark on the seed's bytes, without them.
func hint(seed database.Seed) string {
	var remarks []string
	for _, v := range []struct{ key, value string }{
		{"password", seed.Password}, {"username", seed.Username}, {"database", seed.Database},
	} {
		switch {
		case strings.HasSuffix(v.value, "\n"):
			remarks = append(remarks, "the value of key "+v.key+" ends in a newline")
		case v.value != strings.TrimRightFunc(v.value, unicode.IsSpace):
			remarks = append(remarks, "the value of key "+v.key+" ends in white space")
		}
	}
	return strings.Join(remarks, "; ")
}
