package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

// session is one connection of the admin's, for the length of one call. Nothing
// of its state outlives it.
type session struct {
	*pool
	at      site
	conn    *sql.Conn
	release func()
	evict   func()
	// broken says that a statement may still run on the server.
	broken bool
}

// session takes a connection from the admin's pool. Where the server refuses a
// pool's password it has been changed: the pool goes, and the password is read
// once more.
func (e *Engine) session(ctx context.Context, admin database.Admin) (*session, error) {
	at := e.site(admin.Address, admin.TLS, admin.Username)
	for {
		entry, fresh, err := e.pools.get(ctx, admin)
		if err != nil {
			return nil, err
		}
		conn, err := e.take(ctx, entry.pool)
		if err == nil {
			return &session{
				pool: entry.pool, at: at, conn: conn,
				release: func() { e.pools.release(entry) }, evict: func() { e.pools.evict(entry) },
			}, nil
		}
		err = at.failure(ctx, stepAdminLogin, err)
		if refused(err) {
			e.pools.evict(entry)
		}
		e.pools.release(entry)
		if fresh || !refused(err) {
			return nil, err
		}
	}
}

// take waits for a connection as long as a login and a statement may last.
func (e *Engine) take(ctx context.Context, p *pool) (*sql.Conn, error) {
	wait, cancel := context.WithTimeout(ctx, e.opts.ConnectTimeout+e.opts.QueryTimeout)
	defer cancel()
	conn, err := p.db.Conn(wait)
	var login *loginError
	if err != nil && wait.Err() != nil && ctx.Err() == nil && !errors.As(err, &login) {
		return nil, api.Failf(api.ServerBusy, "all connections of the provider's admin user are at work")
	}
	return conn, err
}

func refused(err error) bool {
	var f *api.Failure
	return errors.As(err, &f) && f.Reason == api.ProviderCredentialsRejected
}

// exec runs one statement and answers the driver's own error.
func (s *session) exec(ctx context.Context, query string, args ...any) (affected int64, err error) {
	res, err := s.conn.ExecContext(ctx, query, args...)
	if err != nil {
		s.note(err)
		return 0, err
	}
	return res.RowsAffected()
}

// note remembers an error that leaves open whether the statement still runs. The
// pool goes where its connections are out of date: a server that has become read
// only may be yesterday's primary, so the next try asks the name anew; and global
// privileges that are granted reach a connection only when it logs in.
func (s *session) note(err error) {
	if err == nil {
		return
	}
	c := code(err)
	s.broken = s.broken || c == 0
	switch codes[c].reason {
	case api.ServerReadOnly, api.ProviderPrivilegeMissing:
		s.evict()
	}
}

// close gives the connection back to the pool.
func (s *session) close() {
	_ = s.conn.Close()
	s.release()
}

// discard ends the connection, and with it the locks that it holds.
func (s *session) discard() {
	_ = s.conn.Raw(func(any) error { return driver.ErrBadConn })
	s.close()
}
