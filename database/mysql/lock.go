package mysql

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"strings"
	"time"

	"github.com/seedmend/seedmend/api"
)

// lock is the named lock of one database on one server: one creation at a time.
// It lasts as long as the connection.
type lock struct {
	name       string
	connection int64
	// noBackslashEscapes is the mode of this very connection.
	noBackslashEscapes bool
	partialRevokes     bool
}

// lockName has at most the 64 characters that MySQL allows from 5.7. Names that
// differ in case share one.
func lockName(database string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(database)))
	return "seedmend:" + hex.EncodeToString(sum[:20])
}

// lock takes the lock, and learns in the same statement what the next ones need.
func (s *session) lock(ctx context.Context, database string, wait time.Duration) (lock, error) {
	l := lock{name: lockName(database)}
	query := "SELECT GET_LOCK(?, ?), CONNECTION_ID(), @@sql_mode, "
	if s.server.partialRevokes() {
		query += "@@partial_revokes"
	} else {
		query += "0"
	}
	var got sql.NullInt64
	var mode string
	row := s.conn.QueryRowContext(ctx, query, l.name, int64(lockWait(ctx, wait)/time.Second))
	if err := row.Scan(&got, &l.connection, &mode, &l.partialRevokes); err != nil {
		s.note(err)
		return l, s.at.failure(ctx, stepLock, err)
	}
	if got.Int64 != 1 {
		return l, api.Failf(api.ServerBusy, "%s: another run is at work on database %q", s.at, database)
	}
	l.noBackslashEscapes = strings.Contains(mode, "NO_BACKSLASH_ESCAPES")
	return l, nil
}

// lockWait leaves time to say so when the lock is not to be had.
func lockWait(ctx context.Context, most time.Duration) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return max(0, min(most, time.Until(deadline)*3/4))
	}
	return most
}

// kill ends what a cut call may have left running: the connection that holds the
// lock, and the statements that probes of ours run as the tenant. The context is
// one of its own; a server that cannot be reached any more is left alone.
func (s *session) kill(ctx context.Context, l lock, user string, statements ...string) {
	db := sql.OpenDB(s.connector) // not the pool: all of it may be stuck
	defer db.Close()
	db.SetMaxOpenConns(1)
	var holder sql.NullInt64
	// A server that was started again gives out the same numbers anew; the lock
	// tells whether this one still is ours.
	err := db.QueryRowContext(ctx, "SELECT IS_USED_LOCK(?)", l.name).Scan(&holder)
	if err == nil && holder.Valid && holder.Int64 == l.connection {
		_, _ = db.ExecContext(ctx, "KILL ?", l.connection)
	}
	for _, statement := range statements {
		var id int64
		err := db.QueryRowContext(ctx, "SELECT ID FROM information_schema.PROCESSLIST WHERE USER = ? AND INFO = ?", user, statement).Scan(&id)
		if err == nil {
			_, _ = db.ExecContext(ctx, "KILL ?", id)
		}
	}
}
