package mysql

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/seedmend/seedmend/database"
)

// owedTime bounds STOP, CHANGE and START together, whatever became of the
// caller. STOP waits for the transaction that the SQL thread is in.
const owedTime = 30 * time.Second

// lockTries are of a second each.
const lockTries = 5

// patient is a session on a connection of its own, which waits that long for an
// answer. A password that was changed since the pool's connections logged in
// shows here: it is read once more.
func (e *Engine) patient(ctx context.Context, admin database.Admin) (*session, error) {
	for again := true; ; again = false {
		s, err := e.session(ctx, admin)
		if err != nil {
			return nil, err
		}
		_ = s.conn.Close()
		db := sql.OpenDB(s.connector)
		release := s.release
		s.release = func() { _ = db.Close(); release() }
		if s.conn, err = db.Conn(context.WithValue(ctx, patienceKey{}, owedTime)); err == nil {
			return s, nil
		}
		err = s.at.failure(ctx, stepAdminLogin, err)
		if refused(err) {
			s.evict()
		}
		s.release()
		if !again || !refused(err) {
			return nil, err
		}
	}
}

// lockFor waits for a named lock of the server's, which lasts as long as the
// connection. escapes is that connection's mode.
func (s *session) lockFor(ctx context.Context, kind, name string) (escapes bool, err error) {
	sum := sha256.Sum256([]byte(strings.ToLower(name)))
	lock := "seedmend:" + kind + ":" + hex.EncodeToString(sum[:20])
	for range lockTries {
		var got sql.NullInt64
		var mode string
		row := s.conn.QueryRowContext(ctx, "SELECT GET_LOCK(?, 1), @@sql_mode", lock)
		if err := row.Scan(&got, &mode); err != nil {
			s.note(err)
			return false, s.at.failure(ctx, stepLock, err)
		}
		if got.Int64 == 1 {
			return !strings.Contains(mode, "NO_BACKSLASH_ESCAPES"), nil
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
	}
	return false, lockTaken(fmt.Sprintf("%s: another run is at work on the %s %q", s.at, kind, name))
}

// lockTaken is no fault of the server's.
type lockTaken string

func (e lockTaken) Error() string { return string(e) }
