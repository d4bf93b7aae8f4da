package mysql

import (
	"context"
	"crypto/x509"
	"log/slog"
	"time"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

// Options of an engine; the zero value is good.
type Options struct {
	// TLS is the policy for every connection; default TLSPreferred.
	TLS TLSPolicy
	// RootCAs are trusted by TLSVerify; default the system's.
	RootCAs *x509.CertPool
	// ConnectTimeout bounds one login, from the dial to the server's answer
	// to the password; default 3 s.
	ConnectTimeout time.Duration
	// QueryTimeout bounds the wait for the answer to one statement; default 10 s.
	QueryTimeout time.Duration
	// MaxServers bounds how many servers an open pool is kept for, least
	// recently used first out; default 64.
	MaxServers int
	// Log gets the driver's own remarks (debug) and what needs an operator's
	// eye (warn); default silence.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.TLS == "" {
		o.TLS = TLSPreferred
	}
	if o.ConnectTimeout <= 0 {
		o.ConnectTimeout = 3 * time.Second
	}
	if o.QueryTimeout <= 0 {
		o.QueryTimeout = 10 * time.Second
	}
	if o.MaxServers <= 0 {
		o.MaxServers = 64
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Engine implements database.Engine and database.Replication for MySQL from 5.6 and MariaDB from 10.2.
type Engine struct {
	opts  Options
	pools *pools
	// groups of replicas: one change of credentials in each at a time.
	groups keyed
}

var _ database.Engine = (*Engine)(nil)

// New makes an engine. It opens nothing.
func New(opts Options) *Engine {
	e := &Engine{opts: opts.withDefaults()}
	e.pools = newPools(e.opts.MaxServers, e.openPool)
	return e
}

// Evict forgets the open connections of an admin user, so that the next use
// reads the password afresh. What runs on them is not interrupted.
func (e *Engine) Evict(addr database.Address, username string) {
	e.pools.evictUser(addr, username)
}

// Close ends every idle connection, and the others as soon as they are done.
func (e *Engine) Close() error { return e.pools.close() }

// Login logs in to the seed's database and out again. Failures:
// CredentialsRejected, AccessDenied, DatabaseMissing, AccountLocked,
// PasswordExpired, TLSRequired, AuthPluginUnsupported, and the soft ones.
func (e *Engine) Login(ctx context.Context, addr database.Address, seed database.Seed) error {
	at := e.site(addr, database.TLS{}, "")
	l, err := e.login(ctx, addr, database.TLS{}, seed.Credentials, seed.Database)
	if err != nil {
		return err
	}
	defer l.close()
	if l.auth == api.LoginOK && l.access == api.LoginOK {
		// An expired password lets one in; only the first statement is refused.
		if _, err := l.currentUser(ctx); err != nil {
			return err
		}
	}
	return at.refusal(l, seed)
}
