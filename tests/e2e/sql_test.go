package e2e

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/tests/lab"
)

// The tests quote by themselves: what seedmend does is what they check.

func ident(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

func literal(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(s) + "'"
}

func pattern(database string) string {
	return strings.NewReplacer(`\`, `\\`, "_", `\_`, "%", `\%`).Replace(database)
}

// hash is what mysql_native_password stores.
func hash(password string) string {
	once := sha1.Sum([]byte(password))
	twice := sha1.Sum(once[:])
	return "*" + strings.ToUpper(hex.EncodeToString(twice[:]))
}

// exec runs statements as the administrator. Errors do not repeat them.
func exec(ctx context.Context, m *lab.MariaDB, statements ...string) error {
	for _, s := range statements {
		if _, err := m.DB().ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %.30s...: %w", m.Name, s, err)
		}
	}
	return nil
}

func sql(t *testing.T, m *lab.MariaDB, statements ...string) {
	t.Helper()
	require.NoError(t, exec(within(t, patience), m, statements...))
}

// query answers one value.
func query[T any](t *testing.T, m *lab.MariaDB, question string, args ...any) (value T) {
	t.Helper()
	require.NoError(t, m.DB().QueryRowContext(within(t, patience), question, args...).Scan(&value))
	return value
}

// as logs in as anybody and runs statements.
func as(ctx context.Context, m *lab.MariaDB, user, password, database string, statements ...string) error {
	db, err := m.Open(user, password, database)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.PingContext(ctx); err != nil {
		return err
	}
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// statements of a user, from the general log, which is on all the time.
func statements(t *testing.T, m *lab.MariaDB, user string) (all []lab.Statement) {
	t.Helper()
	ctx := within(t, patience)
	log, err := m.DB().QueryContext(ctx, "SELECT command_type, argument FROM mysql.general_log WHERE LOCATE(?, CONVERT(user_host USING utf8mb4))", "["+user+"] @")
	require.NoError(t, err)
	defer log.Close()
	for log.Next() {
		s := lab.Statement{User: user}
		require.NoError(t, log.Scan(&s.Command, &s.Argument))
		all = append(all, s)
	}
	require.NoError(t, log.Err())
	return all
}

// logins are how often a user tried to get in.
func logins(t *testing.T, m *lab.MariaDB, user string) (n int) {
	t.Helper()
	for _, s := range statements(t, m, user) {
		// A refused one has two entries, of which the second tells of the refusal.
		if s.Command == "Connect" && !strings.HasPrefix(s.Argument, "Access denied") {
			n++
		}
	}
	return n
}
