package lab

import (
	"context"
	"fmt"
	"strings"
)

// Statement is one entry of MariaDB's general log.
type Statement struct {
	User     string // as given at login; also of a refused one
	Host     string // where it came from
	ThreadID int64
	Command  string // Connect, Query, Init DB, Quit, ...
	Argument string // the statement; for a refused Connect "Access denied for user ..."
}

// ResetGeneralLog empties the general log and turns it on.
func (m *MariaDB) ResetGeneralLog(ctx context.Context) error {
	return m.exec(ctx,
		"SET GLOBAL log_output = 'TABLE'",
		"SET GLOBAL general_log = OFF",
		"TRUNCATE TABLE mysql.general_log",
		"SET GLOBAL general_log = ON")
}

// StopGeneralLog turns the general log off; what it holds stays.
func (m *MariaDB) StopGeneralLog(ctx context.Context) error {
	return m.exec(ctx, "SET GLOBAL general_log = OFF")
}

// Statements are all entries since ResetGeneralLog, of everybody, in order,
// without the question for them.
func (m *MariaDB) Statements(ctx context.Context) ([]Statement, error) {
	const question = "SELECT user_host, thread_id, command_type, argument FROM mysql.general_log"
	rows, err := m.db.QueryContext(ctx, question)
	if err != nil {
		return nil, fmt.Errorf("%s: read the general log: %w", m.Name, err)
	}
	defer rows.Close()
	var all []Statement
	for rows.Next() {
		var s Statement
		var userHost string
		if err := rows.Scan(&userHost, &s.ThreadID, &s.Command, &s.Argument); err != nil {
			return nil, err
		}
		s.User, s.Host = splitUserHost(userHost)
		if s.Argument != question {
			all = append(all, s)
		}
	}
	return all, rows.Err()
}

// splitUserHost reads "account[login] @ host [address]".
func splitUserHost(s string) (user, host string) {
	login, from, _ := strings.Cut(s, "] @ ")
	_, user, _ = strings.Cut(login, "[")
	host, address, _ := strings.Cut(strings.TrimSuffix(from, "]"), " [")
	if host == "" {
		host = address
	}
	return user, host
}

func (m *MariaDB) exec(ctx context.Context, statements ...string) error {
	for _, s := range statements {
		if _, err := m.db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %s: %w", m.Name, s, err)
		}
	}
	return nil
}
