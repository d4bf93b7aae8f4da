package mysql

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"

	sqldriver "database/sql/driver"

	"github.com/go-sql-driver/mysql"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

// site is where an error arose: the server, and the provider's admin user where
// it was that one's connection.
type site struct {
	addr  database.Address
	admin string
	// unencrypted: by our policy, whatever the server offers.
	unencrypted bool
}

func (e *Engine) site(addr database.Address, t database.TLS, admin string) site {
	return site{addr, admin, e.opts.forServer(t).TLS == TLSDisabled}
}

// maybeTLS goes after "refused": MariaDB (tried on 10.11) answers the plain 1045
// where it demands TLS and gets none, MySQL 3159.
func (at site) maybeTLS() string {
	if !at.unencrypted {
		return ""
	}
	return "; or the server demands TLS, which seedmend's policy disables"
}

func (at site) String() string { return fmt.Sprintf("%s:%d", at.addr.Host, at.addr.Port) }

// code is the server's error code, 0 where the server did not answer.
func code(err error) uint16 {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

// outcome reads how a login ended. It answers an error where that is not known.
func (at site) outcome(ctx context.Context, st step, err error) (api.Login, error) {
	if err == nil {
		return api.LoginOK, nil
	}
	if l, ok := loginCodes[code(err)]; ok {
		return l, nil
	}
	for _, plugin := range []error{mysql.ErrUnknownPlugin, mysql.ErrOldPassword, mysql.ErrCleartextPassword, mysql.ErrNativePassword} {
		if errors.Is(err, plugin) {
			return api.LoginUnsupportedPlugin, nil
		}
	}
	return "", at.failure(ctx, st, err)
}

// failure maps an error by its code to the failure table. A context that has
// ended answers its own error, unless the server had said something final.
func (at site) failure(ctx context.Context, st step, err error) error {
	if err == nil {
		return nil
	}
	var f *api.Failure
	if errors.As(err, &f) {
		return err
	}
	var login *loginError
	if at.admin != "" && (errors.As(err, &login) || loginCodes[code(err)] == api.LoginExpired) {
		if f := at.adminRefused(err); f != nil {
			return f
		}
	}
	r, known := codes[code(err)]
	if known && !(r.reason == api.ServerUnreachable && ctx.Err() != nil) {
		return at.byRule(st, r, err)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s on %s: %w", st.name, at, ctx.Err())
	}
	if c := code(err); c != 0 {
		return api.Failf(api.DatabaseError, "%s: cannot %s: the server answers with error %d", at, st.name, c)
	}
	return at.transport(st, err)
}

func (at site) adminRefused(err error) *api.Failure {
	l, ok := loginCodes[code(err)]
	if !ok && errors.Is(err, mysql.ErrUnknownPlugin) {
		l = api.LoginUnsupportedPlugin
	}
	if l == api.LoginNeedsTLS {
		return api.Failf(api.TLSRequired, "%s: the server demands TLS", at)
	}
	why, ok := adminLogin[l]
	if !ok {
		return nil
	}
	if l == api.LoginRefused {
		why += at.maybeTLS()
	}
	f := api.Failf(api.ProviderCredentialsRejected, "%s: cannot log in as the provider's admin user %q: %s", at, at.admin, why)
	if c := code(err); c != 0 {
		f.Message += fmt.Sprintf(" (error %d)", c)
	}
	return f
}

func (at site) byRule(st step, r rule, err error) error {
	text := r.text
	if r.reason == api.ProviderPrivilegeMissing {
		text = fmt.Sprintf("the provider's admin user %q lacks a privilege: %s", at.admin, st.privilege)
	}
	f := api.Failf(r.reason, "%s: cannot %s: %s (error %d)", at, st.name, text, code(err))
	var e *mysql.MySQLError
	if r.server && errors.As(err, &e) {
		f.ForOperator("the server says: %s", e.Message)
	}
	return f
}

// transport is about errors that are not the server's: the network, TLS, the
// protocol. Their texts are left out, but for the network's, which hold addresses.
func (at site) transport(st step, err error) error {
	var (
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		alert       tls.AlertError
		network     *net.OpError
		dns         *net.DNSError
	)
	switch {
	case errors.Is(err, mysql.ErrNoTLS):
		return api.Failf(api.TLSRequired, "%s: the server does not offer TLS, and seedmend's policy demands it", at)
	case errors.As(err, &certificate):
		return api.Failf(api.TLSRequired, "%s: the server's certificate is not trusted or does not name this host", at)
	case errors.As(err, &record), errors.As(err, &alert):
		return api.Failf(api.ServerUnreachable, "%s: cannot %s: the TLS handshake failed", at, st.name)
	case errors.As(err, &dns):
		return api.Failf(api.ServerUnreachable, "%s: cannot %s: the host's name does not resolve", at, st.name).ForOperator("%v", dns)
	case errors.Is(err, context.DeadlineExceeded):
		return api.Failf(api.ServerUnreachable, "%s: cannot %s: no answer in time", at, st.name)
	case errors.As(err, &network):
		return api.Failf(api.ServerUnreachable, "%s: cannot %s: the server cannot be reached", at, st.name).ForOperator("%v", network)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, sqldriver.ErrBadConn), errors.Is(err, mysql.ErrInvalidConn):
		return api.Failf(api.ServerUnreachable, "%s: cannot %s: the connection broke, or no answer came in time", at, st.name)
	}
	return api.Failf(api.DatabaseError, "%s: cannot %s: the answer is not one of MySQL's protocol", at, st.name).ForOperator("%s", nature(err))
}

// nature names an error of the driver's, or its type: other texts may hold anything.
func nature(err error) string {
	for _, own := range []error{mysql.ErrMalformPkt, mysql.ErrPktSync, mysql.ErrPktSyncMul, mysql.ErrPktTooLarge, mysql.ErrBusyBuffer} {
		if errors.Is(err, own) {
			return own.Error()
		}
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return fmt.Sprintf("%T", err)
}

// refusal is the failure that a seed's login comes to; nil where it stands.
func (at site) refusal(l *login, seed database.Seed) error {
	switch l.auth {
	case api.LoginOK:
	case api.LoginLocked:
		return api.Failf(api.AccountLocked, "%s: the account of user %q is locked", at, seed.Username)
	case api.LoginExpired:
		return api.Failf(api.PasswordExpired, "%s: the password of user %q has expired", at, seed.Username)
	case api.LoginNeedsTLS:
		return api.Failf(api.TLSRequired, "%s: the server demands TLS of user %q", at, seed.Username)
	case api.LoginUnsupportedPlugin:
		return api.Failf(api.AuthPluginUnsupported, "%s: user %q has an authentication plugin that seedmend does not speak", at, seed.Username)
	default:
		return api.Failf(api.CredentialsRejected, "%s: the server refuses the username and password of user %q%s", at, seed.Username, at.maybeTLS())
	}
	switch {
	case l.access == api.LoginOK, seed.Database == "":
		return nil
	case l.unknown:
		return api.Failf(api.DatabaseMissing, "%s: database %q does not exist", at, seed.Database)
	}
	return api.Failf(api.AccessDenied, "%s: user %q has no access to database %q", at, seed.Username, seed.Database)
}
