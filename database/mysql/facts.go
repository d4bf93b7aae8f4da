package mysql

import (
	"context"
	"strings"

	"github.com/seedmend/seedmend/api"
)

// The facts come as rows of one statement, each with its kind and the columns
// that the kind needs. CONVERT gives all of them one collation.
const (
	factsDatabase = `SELECT 'database', CONVERT(SCHEMA_NAME USING utf8mb4), '', '', '', '', '', '', ''
FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?`

	factsClaim = `
UNION ALL SELECT 'claim', owner_uid, namespace, name, cluster_uid, username, host, origin, phase
FROM ` + claimsTable + ` WHERE database_name = ?`

	factsTransport = `
UNION ALL SELECT 'secure transport', '', '', '', '', '', '', '', '' FROM DUAL WHERE @@require_secure_transport`

	// MariaDB from 10.4 keeps accounts as JSON. A row with several ways to log
	// in (auth_or) is not described further.
	factsMariaDB = `
UNION ALL SELECT 'account', CONVERT(Host USING utf8mb4),
 IF(JSON_EXISTS(Priv, '$.auth_or'), '', COALESCE(JSON_VALUE(Priv, '$.plugin'), '')),
 ELT(1 + COALESCE(JSON_VALUE(Priv, '$.ssl_type'), 0), '', 'ANY', 'X509', 'SPECIFIED'),
 IF(JSON_VALUE(Priv, '$.account_locked'), 'Y', 'N'),
 IF(NOT JSON_EXISTS(Priv, '$.auth_or') AND COALESCE(JSON_VALUE(Priv, '$.authentication_string'), '') IN ('', 'invalid'), 'Y', 'N'),
 '', '', ''
FROM mysql.global_priv WHERE User = ? AND NOT COALESCE(JSON_VALUE(Priv, '$.is_role'), 0)`

	// MySQL from 5.7.6.
	factsMySQL = `
UNION ALL SELECT 'account', CONVERT(Host USING utf8mb4), CONVERT(plugin USING utf8mb4), CONVERT(ssl_type USING utf8mb4),
 CONVERT(account_locked USING utf8mb4), IF(authentication_string = '', 'Y', 'N'), '', '', ''
FROM mysql.user WHERE User = ?`

	// MySQL and MariaDB before; MariaDB's roles are rows without a host.
	factsOld = `
UNION ALL SELECT 'account', CONVERT(Host USING utf8mb4), CONVERT(plugin USING utf8mb4), CONVERT(ssl_type USING utf8mb4),
 'N', IF(Password = '' AND COALESCE(authentication_string, '') = '', 'Y', 'N'), '', '', ''
FROM mysql.user WHERE User = ? AND Host <> ''`
)

func (s server) factsAccounts() string {
	switch {
	case s.mariadb && s.from(10, 4, 0):
		return factsMariaDB
	case !s.mariadb && s.from(5, 7, 6):
		return factsMySQL
	}
	return factsOld
}

// ask fills in what the admin knows.
func (p *probe) ask(ctx context.Context, s *session) error {
	p.facts.ServerVersion = s.server.version
	query := factsDatabase + s.server.factsAccounts()
	if s.server.secureTransport() {
		query += factsTransport
	}
	key := s.server.key(p.seed.Database)
	err := p.read(ctx, s, query+factsClaim, p.seed.Database, p.user, key)
	if noClaims(err) {
		err = p.read(ctx, s, query, p.seed.Database, p.user)
	}
	s.note(err)
	return s.at.failure(ctx, stepFacts, err)
}

func (p *probe) read(ctx context.Context, s *session, query string, args ...any) error {
	rows, err := s.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var kind string
		var c [8]string
		if err := rows.Scan(&kind, &c[0], &c[1], &c[2], &c[3], &c[4], &c[5], &c[6], &c[7]); err != nil {
			return err
		}
		p.fact(s.server, kind, c)
	}
	return rows.Err()
}

func (p *probe) fact(s server, kind string, c [8]string) {
	f := &p.facts
	switch kind {
	case "database":
		// The server may compare without case or accents; a name is its bytes.
		if c[0] == p.seed.Database || s.foldsCase && strings.EqualFold(c[0], p.seed.Database) {
			f.DatabaseExists = true
		}
	case "secure transport":
		p.needsTLS = true
	case "account":
		f.UserExists = true
		f.Accounts = append(f.Accounts, api.Account{
			Host: c[0], Plugin: c[1], RequiresTLS: c[2], Locked: c[3] == "Y", NoPassword: c[4] == "Y",
		})
	case "claim":
		f.Claim = &api.Claim{
			Owner:    api.Owner{UID: c[0], Namespace: c[1], Name: c[2], Cluster: c[3]},
			Username: c[4], Host: c[5], Origin: c[6], Phase: c[7],
		}
	}
}
