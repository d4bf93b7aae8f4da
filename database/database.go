// Package database says what a database server is to seedmend. It knows no
// Kubernetes and no Temporal. Each engine has a folder of its own.
//
// Every error that an engine returns is, or wraps, an *api.Failure mapped from
// the driver's error code, or a context error. No error holds a credential or
// the text of a statement.
package database

import (
	"context"
	"log/slog"

	"github.com/seedmend/seedmend/api"
)

// Credentials are a username and password. They print as a placeholder.
type Credentials struct {
	Username string
	Password string
}

const redacted = "[redacted]"

// String hides both values.
func (Credentials) String() string { return redacted }

// GoString hides both values.
func (Credentials) GoString() string { return redacted }

// LogValue hides both values.
func (Credentials) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText hides both values.
func (Credentials) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Address is where a server listens.
type Address struct {
	Host string
	Port int
}

// Admin is a server together with the provider's own user on it.
type Admin struct {
	Address
	Username string
	// Password is asked for only where no open connection can serve.
	Password func(ctx context.Context) (string, error)
	// TLS overrides the engine's policy.
	TLS TLS
}

// Seed is what a tenant's account on a server looks like.
type Seed struct {
	Credentials
	Database string
}

// Engine is one kind of server.
type Engine interface {
	// CheckNames refuses reserved and impossible names; it contacts nothing.
	// adminUser is the provider's own user.
	CheckNames(seed Seed, adminUser string) error

	// Probe logs in with the seed and asks the admin what exists. It changes nothing.
	Probe(ctx context.Context, admin Admin, seed Seed) (api.Facts, error)

	// Adopt takes the claim on an existing database, with origin adopted and
	// phase ready. Another owner: DatabaseClaimed. Safe to run twice.
	Adopt(ctx context.Context, admin Admin, owner api.Owner, seed Seed, accountHost string) error

	// Create takes the claim (origin created, phase creating), makes database,
	// user and grants, proves them with a login and a table, and sets the claim
	// ready. Under a server-side named lock; safe to run twice and to be cut
	// anywhere; finishes what a cut run of the same owner left.
	Create(ctx context.Context, admin Admin, owner api.Owner, seed Seed) error

	// Login logs in to the seed's database and out again.
	Login(ctx context.Context, addr Address, seed Seed) error

	// Close ends every connection.
	Close() error
}
