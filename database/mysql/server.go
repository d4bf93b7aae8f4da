package mysql

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seedmend/seedmend/database"
)

// Limits of a pool. Eight connections do some hundred requests a second.
const (
	poolMaxOpen  = 8
	poolMaxIdle  = 4
	poolIdleTime = 5 * time.Minute
	poolLifetime = 30 * time.Minute // a name may lead to another server by then
)

// server is what is asked of a server once for each pool.
type server struct {
	version      string
	mariadb      bool
	major, minor int
	patch        int
	// foldsCase: names of databases are compared without case
	// (lower_case_table_names other than 0).
	foldsCase bool
	// charset is what the server takes our bytes for.
	charset string
}

// parseVersion reads VERSION(), such as 10.11.6-MariaDB-log or 8.0.36.
func parseVersion(v string) server {
	s := server{version: v, mariadb: strings.Contains(strings.ToLower(v), "mariadb")}
	number, _, _ := strings.Cut(v, "-")
	parts := append(strings.Split(number, "."), "", "", "")
	s.major, s.minor, s.patch = digits(parts[0]), digits(parts[1]), digits(parts[2])
	return s
}

func digits(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

func (s server) from(major, minor, patch int) bool {
	if s.major != major {
		return s.major > major
	}
	if s.minor != minor {
		return s.minor > minor
	}
	return s.patch >= patch
}

// partialRevokes tells whether the variable of that name exists.
func (s server) partialRevokes() bool { return !s.mariadb && s.from(8, 0, 16) }

// maxUser is the limit of an account's name in characters (MySQL's reference for
// 5.7.8; 5.6 tried). MariaDB's is above the 80 that CheckNames allows.
func (s server) maxUser() int {
	switch {
	case s.mariadb:
		return maxUser
	case s.from(5, 7, 8):
		return 32
	}
	return 16
}

// secureTransport tells whether require_secure_transport exists.
func (s server) secureTransport() bool {
	return s.mariadb && s.from(10, 5, 2) || !s.mariadb && s.from(5, 7, 8)
}

// key is a database's name as the server compares it.
func (s server) key(name string) string {
	if s.foldsCase {
		return strings.ToLower(name)
	}
	return name
}

// unsafeCharsets have characters that end in the byte of a backslash or a
// backtick. A server may overrule the character set that a client asks for at
// login (skip-character-set-client-handshake), and quoting would then be no
// protection; it obeys SET NAMES. The others are left, so that a name's bytes
// mean the same in our statements and in everybody's login.
var unsafeCharsets = set("big5", "cp932", "gb2312", "gb18030", "gbk", "sjis")

// openPool reads the password, logs in, and gets to know the server.
func (e *Engine) openPool(ctx context.Context, admin database.Admin) (*pool, error) {
	password, err := admin.Password(ctx)
	if err != nil {
		return nil, err
	}
	at := e.site(admin.Address, admin.TLS, admin.Username)
	var options []mysql.Option
	for {
		c, err := e.connector(admin.Address, admin.TLS, database.Credentials{Username: admin.Username, Password: password}, "", options...)
		if err != nil {
			return nil, err
		}
		p := &pool{db: sql.OpenDB(c), connector: c}
		p.db.SetMaxOpenConns(poolMaxOpen)
		p.db.SetMaxIdleConns(poolMaxIdle)
		p.db.SetConnMaxIdleTime(poolIdleTime)
		p.db.SetConnMaxLifetime(poolLifetime)
		if p.server, err = meet(ctx, p.db); err != nil {
			_ = p.db.Close()
			return nil, at.failure(ctx, stepServer, err)
		}
		if !unsafeCharsets[p.server.charset] || options != nil {
			return p, nil
		}
		_ = p.db.Close()
		options = append(options, mysql.Charset("utf8mb4", ""))
	}
}

func meet(ctx context.Context, db *sql.DB) (server, error) {
	var version, charset string
	var lower int
	row := db.QueryRowContext(ctx, "SELECT VERSION(), @@lower_case_table_names, @@character_set_client")
	if err := row.Scan(&version, &lower, &charset); err != nil {
		return server{}, err
	}
	s := parseVersion(version)
	s.foldsCase, s.charset = lower != 0, charset
	return s, nil
}
