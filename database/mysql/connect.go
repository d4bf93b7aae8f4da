package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

// connector logs in to one server. It adds to the driver's: a bound on the whole
// login, a mark on its errors, and word of whether the connection is encrypted.
type connector struct {
	driver.Connector
	timeout time.Duration
}

// loginError marks an error of the login, so that a 1045 there is not mistaken
// for one that a statement got.
type loginError struct{ err error }

func (e *loginError) Error() string { return "login: " + e.err.Error() }
func (e *loginError) Unwrap() error { return e.err }

// attempt is filled while a connection is made.
type attempt struct{ cfg *mysql.Config }

type attemptKey struct{}

// patienceKey is for connections whose statements may last longer than QueryTimeout.
type patienceKey struct{}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, &loginError{err}
	}
	return conn, nil
}

// connector makes one for an account; the password goes in through the struct,
// never through a formatted DSN.
func (e *Engine) connector(addr database.Address, t database.TLS, cred database.Credentials, db string, options ...mysql.Option) (connector, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.DBName = cred.Username, cred.Password, db
	cfg.Net, cfg.Addr = "tcp", net.JoinHostPort(addr.Host, strconv.Itoa(addr.Port))
	cfg.Timeout = e.opts.ConnectTimeout
	cfg.ReadTimeout, cfg.WriteTimeout = e.opts.QueryTimeout, e.opts.QueryTimeout
	// Saves the PREPARE of every statement with arguments. The driver quotes by
	// the mode (NO_BACKSLASH_ESCAPES) that the server reports on the connection.
	cfg.InterpolateParams = true
	cfg.Logger = driverLog{e.opts.Log}
	e.opts.forServer(t).encrypt(cfg, addr.Host)

	// With a hook the driver works on a copy of the configuration for each
	// connection. Without, its fallback to plaintext writes to the shared one:
	// a race, and TLS off for the life of the pool.
	options = append(options, mysql.BeforeConnect(func(ctx context.Context, cfg *mysql.Config) error {
		if a, ok := ctx.Value(attemptKey{}).(*attempt); ok {
			a.cfg = cfg
		}
		if d, ok := ctx.Value(patienceKey{}).(time.Duration); ok {
			cfg.ReadTimeout = d
		}
		return nil
	}))
	if err := cfg.Apply(options...); err != nil {
		return connector{}, fmt.Errorf("configure the driver: %w", err)
	}
	c, err := mysql.NewConnector(cfg)
	if err != nil {
		return connector{}, errors.New("configure the driver: the settings do not fit together")
	}
	return connector{c, e.opts.ConnectTimeout}, nil
}

// login is how a seed's login ended, and its connection where it stands.
type login struct {
	at   site
	step step
	auth api.Login
	// access is set where a database was asked for and auth is ok.
	access api.Login
	// unknown says that the server does not know the database (1049). It says
	// 1044 instead to a user without any privilege there.
	unknown bool
	tls     bool
	conn    driver.Conn
}

// login logs in with the bytes of a seed.
func (e *Engine) login(ctx context.Context, addr database.Address, t database.TLS, cred database.Credentials, db string) (*login, error) {
	return e.loginFor(ctx, stepSeedLogin, addr, t, cred, db)
}

// loginFor logs in for a step. It answers an error only where it
// could not find out: an unreachable or busy server, a blocked host, a cut.
func (e *Engine) loginFor(ctx context.Context, st step, addr database.Address, t database.TLS, cred database.Credentials, db string) (*login, error) {
	at := e.site(addr, t, "")
	// Both end with a NUL in the protocol.
	if strings.ContainsRune(cred.Username, 0) || strings.ContainsRune(db, 0) {
		return nil, api.Failf(api.NameInvalid, "a name holds a NUL byte")
	}
	c, err := e.connector(addr, t, cred, db)
	if err != nil {
		return nil, err
	}
	var a attempt
	conn, err := c.Connect(context.WithValue(ctx, attemptKey{}, &a))
	l := &login{at: at, step: st, conn: conn, tls: a.cfg != nil && a.cfg.TLS != nil}
	l.auth, err = at.outcome(ctx, st, err)
	switch {
	case err != nil:
		return nil, err
	case l.auth == loginNoDatabase:
		l.auth, l.access, l.unknown = api.LoginOK, api.LoginRefused, true
	case l.auth == loginNoAccess:
		l.auth, l.access = api.LoginOK, api.LoginRefused
	case l.auth == api.LoginOK && db != "":
		l.access = api.LoginOK
	}
	return l, nil
}

// currentUser asks which account row the login used. Expired passwords show here.
func (l *login) currentUser(ctx context.Context) (string, error) {
	rows, err := l.conn.(driver.QueryerContext).QueryContext(ctx, "SELECT CURRENT_USER()", nil)
	if err == nil {
		defer rows.Close()
		row := make([]driver.Value, 1)
		if err = rows.Next(row); err == nil {
			name, _ := row[0].([]byte)
			return string(name), nil
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
	}
	outcome, err := l.at.outcome(ctx, l.step, err)
	if err != nil {
		return "", err
	}
	l.auth, l.access = outcome, ""
	return "", nil
}

func (l *login) exec(ctx context.Context, query string) error {
	_, err := l.conn.(driver.ExecerContext).ExecContext(ctx, query, nil)
	return err
}

func (l *login) close() {
	if l.conn != nil {
		_ = l.conn.Close()
	}
}

// driverLog takes the driver's remarks: broken packets and connections.
type driverLog struct{ log *slog.Logger }

func (d driverLog) Print(v ...any) { d.log.Debug("mysql driver", "remark", fmt.Sprint(v...)) }
