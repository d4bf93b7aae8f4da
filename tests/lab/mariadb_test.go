package lab_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/tests/lab"
)

func startMariaDB(t *testing.T, l *lab.Lab, opts lab.MariaDBOptions) *lab.MariaDB {
	t.Helper()
	began := time.Now()
	m, err := l.StartMariaDB(within(t, time.Minute), opts)
	require.NoError(t, err)
	t.Logf("%s after %s", m.Name, time.Since(began))
	return m
}

// shared is one lab for all tests that do not look at the lab itself; TestMain
// closes it.
var shared = sync.OnceValues(func() (*lab.Lab, error) { return lab.New(context.Background(), lab.Options{}) })

func sharedLab(t *testing.T) *lab.Lab {
	t.Helper()
	l, err := shared()
	require.NoError(t, err)
	return l
}

func TestMariaDBGeneralLogSeesEverybody(t *testing.T) {
	m := startMariaDB(t, sharedLab(t), lab.MariaDBOptions{})
	ctx := t.Context()
	require.NoError(t, m.ResetGeneralLog(ctx))

	stranger, err := m.Open("nobody-knows-me", "wrong", "")
	require.NoError(t, err)
	defer stranger.Close()
	var refused *mysql.MySQLError
	require.ErrorAs(t, stranger.PingContext(ctx), &refused)
	require.EqualValues(t, 1045, refused.Number)
	_, err = m.DB().ExecContext(ctx, "SELECT 'a query of ours'")
	require.NoError(t, err)

	all, err := m.Statements(ctx)
	require.NoError(t, err)
	var denied, query bool
	for _, s := range all {
		denied = denied || s.Command == "Connect" && s.User == "nobody-knows-me" &&
			s.Host == "localhost" && strings.HasPrefix(s.Argument, "Access denied")
		query = query || s.Command == "Query" && s.User == "root" && s.Argument == "SELECT 'a query of ours'"
	}
	require.True(t, denied, "the refused login in %v", all)
	require.True(t, query, "the query in %v", all)
}

func TestMariaDBKeepsItsDataOverAnEndOfAnyKind(t *testing.T) {
	m := startMariaDB(t, sharedLab(t), lab.MariaDBOptions{})
	ctx := t.Context()
	_, err := m.DB().ExecContext(ctx, "CREATE DATABASE kept")
	require.NoError(t, err)
	port := m.Port
	for name, end := range map[string]func() error{
		"stop": func() error { return m.Stop(ctx) },
		"kill": m.Kill,
	} {
		require.NoError(t, end(), name)
		require.Zero(t, m.PID(), name)
		require.Error(t, m.DB().PingContext(ctx), name)
		require.NoError(t, m.Start(ctx), name)
		var found string
		require.NoError(t, m.DB().QueryRowContext(ctx, "SHOW DATABASES LIKE 'kept'").Scan(&found), name)
	}
	require.Equal(t, port, m.Port)
}

func TestMariaDBPaused(t *testing.T) {
	m := startMariaDB(t, sharedLab(t), lab.MariaDBOptions{})
	require.NoError(t, m.Pause())
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, m.DB().PingContext(ctx), context.DeadlineExceeded)
	require.NoError(t, m.Resume())
	require.NoError(t, m.DB().PingContext(t.Context()))
	require.NoError(t, m.Pause()) // and Close ends a paused one
}

func TestMariaDBThatRequiresTLS(t *testing.T) {
	m := startMariaDB(t, sharedLab(t), lab.MariaDBOptions{RequireTLS: true})
	var cipher, value string
	require.NoError(t, m.DB().QueryRow("SHOW STATUS LIKE 'Ssl_cipher'").Scan(&cipher, &value))
	require.NotEmpty(t, value)

	plain := mysql.NewConfig()
	plain.User, plain.Passwd, plain.Net, plain.Addr = m.RootUser, m.RootPassword, "tcp", m.Addr()
	db, err := mysql.NewConnector(plain)
	require.NoError(t, err)
	_, err = db.Connect(t.Context())
	// MariaDB does not say why: a plain connection looks like a wrong password.
	var refused *mysql.MySQLError
	require.ErrorAs(t, err, &refused)
	require.EqualValues(t, 1045, refused.Number)
}
