package mysql

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/seedmend/seedmend/database"
)

// accountRow is one account of a name, with the plain parts of what the server
// keeps about it.
type accountRow struct {
	host, plugin string
	// hash is of mysql_native_password; it is not part of the version.
	hash    string
	tls     string
	locked  bool
	changed string // when the password was
}

// The columns are host, plugin, hash, ssl_type, locked, password_last_changed.
// A hash is read only of the one plugin for which it is compared.
const (
	accountsMariaDB = `SELECT CONVERT(Host USING utf8mb4),
 IF(JSON_EXISTS(Priv, '$.auth_or'), '', COALESCE(JSON_VALUE(Priv, '$.plugin'), '')),
 IF(NOT JSON_EXISTS(Priv, '$.auth_or') AND JSON_VALUE(Priv, '$.plugin') = 'mysql_native_password', COALESCE(JSON_VALUE(Priv, '$.authentication_string'), ''), ''),
 ELT(1 + COALESCE(JSON_VALUE(Priv, '$.ssl_type'), 0), '', 'ANY', 'X509', 'SPECIFIED'),
 COALESCE(JSON_VALUE(Priv, '$.account_locked'), 0),
 COALESCE(JSON_VALUE(Priv, '$.password_last_changed'), '')
FROM mysql.global_priv WHERE User = ? AND NOT COALESCE(JSON_VALUE(Priv, '$.is_role'), 0) ORDER BY 1`

	// MySQL from 5.7.6.
	accountsMySQL = `SELECT CONVERT(Host USING utf8mb4), CONVERT(plugin USING utf8mb4),
 IF(plugin = 'mysql_native_password', CONVERT(authentication_string USING utf8mb4), ''),
 CONVERT(ssl_type USING utf8mb4), account_locked = 'Y', COALESCE(password_last_changed, '')
FROM mysql.user WHERE User = ? ORDER BY 1`

	// MySQL and MariaDB before.
	accountsOld = `SELECT CONVERT(Host USING utf8mb4),
 IF(COALESCE(plugin, '') = '', 'mysql_native_password', CONVERT(plugin USING utf8mb4)),
 IF(COALESCE(plugin, '') IN ('', 'mysql_native_password'), IF(Password <> '', Password, COALESCE(authentication_string, '')), ''),
 CONVERT(ssl_type USING utf8mb4), 0, ''
FROM mysql.user WHERE User = ? AND Host <> '' ORDER BY 1`
)

// datesAccounts tells whether the server notes when a password was changed.
func (s server) datesAccounts() bool {
	return s.mariadb && s.from(10, 4, 0) || !s.mariadb && s.from(5, 7, 6)
}

func (s server) accountsQuery() string {
	switch {
	case !s.datesAccounts():
		return accountsOld
	case s.mariadb:
		return accountsMariaDB
	}
	return accountsMySQL
}

func (s *session) accounts(ctx context.Context, user string) ([]accountRow, error) {
	rows, err := s.conn.QueryContext(ctx, s.server.accountsQuery(), user)
	if err != nil {
		s.note(err)
		return nil, s.at.failure(ctx, stepAccounts, err)
	}
	defer rows.Close()
	var all []accountRow
	for rows.Next() {
		var a accountRow
		if err := rows.Scan(&a.host, &a.plugin, &a.hash, &a.tls, &a.locked, &a.changed); err != nil {
			return nil, s.at.failure(ctx, stepAccounts, err)
		}
		all = append(all, a)
	}
	return all, s.at.failure(ctx, stepAccounts, rows.Err())
}

// AccountVersion is a word that changes when the primary's accounts of a name
// do: a new password, plugin, host or lock. No hash of a password is in it.
func (e *Engine) AccountVersion(ctx context.Context, primary database.Admin, user string) (string, error) {
	s, err := e.session(ctx, primary)
	if err != nil {
		return "", onPrimary.mending(err)
	}
	defer s.close()
	if !s.server.datesAccounts() {
		return "", nil
	}
	rows, err := s.accounts(ctx, sqlUser(user, primary.Username))
	if err != nil {
		return "", onPrimary.mending(err)
	}
	return accountVersion(rows), nil
}

func accountVersion(rows []accountRow) string {
	h := sha256.New()
	for _, a := range rows {
		locked := "open"
		if a.locked {
			locked = "locked"
		}
		h.Write([]byte(strings.Join([]string{a.host, a.plugin, a.tls, locked, a.changed, ""}, "\x00")))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
