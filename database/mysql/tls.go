package mysql

import (
	"crypto/tls"
	"fmt"
	"strings"

	driver "github.com/go-sql-driver/mysql"

	"github.com/seedmend/seedmend/database"
)

// TLSPolicy says how connections are encrypted. It holds for the provider's
// admin user and for seeds alike.
type TLSPolicy string

const (
	// TLSDisabled never encrypts.
	TLSDisabled TLSPolicy = "disabled"
	// TLSPreferred encrypts where the server offers it, without a look at its
	// certificate, and goes on in plaintext where it does not.
	TLSPreferred TLSPolicy = "preferred"
	// TLSRequired encrypts or fails; the certificate is not looked at.
	TLSRequired TLSPolicy = "required"
	// TLSVerify encrypts, and the certificate has to be trusted and to name the host.
	TLSVerify TLSPolicy = "verify"
)

// ParseTLSPolicy reads a flag's value; empty is TLSPreferred.
func ParseTLSPolicy(s string) (TLSPolicy, error) {
	switch p := TLSPolicy(s); p {
	case "":
		return TLSPreferred, nil
	case TLSDisabled, TLSPreferred, TLSRequired, TLSVerify:
		return p, nil
	}
	return "", fmt.Errorf("TLS policy %q is none of disabled, preferred, required, verify", s)
}

// forServer is the policy for one server, which may have one of its own.
func (o Options) forServer(t database.TLS) Options {
	if t.Mode != "" {
		o.TLS = TLSPolicy(t.Mode)
	}
	if t.RootCAs != nil {
		o.RootCAs = t.RootCAs
	}
	return o
}

// encrypt applies the policy. One that it does not know counts as TLSVerify,
// the strictest.
func (o Options) encrypt(cfg *driver.Config, host string) {
	switch o.TLS {
	case TLSDisabled:
	case TLSPreferred:
		cfg.TLS = unverified()
		cfg.AllowFallbackToPlaintext = true
	case TLSRequired:
		cfg.TLS = unverified()
	default:
		cfg.TLS = &tls.Config{RootCAs: o.RootCAs, ServerName: strings.TrimSuffix(host, "."), MinVersion: tls.VersionTLS12}
	}
}

// unverified keeps out who listens only. Old servers (MySQL 5.6) offer TLS 1.0,
// which still is better than the plaintext that the policy would allow.
func unverified() *tls.Config {
	return &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10} //nolint:gosec // the documented policy
}
