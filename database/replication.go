package database

import (
	"context"
	"crypto/x509"
	"time"

	"github.com/seedmend/seedmend/api"
)

// TLS overrides the engine's policy for one server; the zero value does not.
type TLS struct {
	// Mode is disabled, preferred, required or verify; empty is the engine's own policy.
	Mode string
	// RootCAs are trusted by verify; nil is the engine's own.
	RootCAs *x509.CertPool
	// Key tells configurations apart in caches; no secret is in it.
	Key string
}

// ReplicaServer is a replica's server, the server that it should follow, and
// the channel between them.
type ReplicaServer struct {
	Replica Admin
	Primary Admin
	Channel string
	// Group names the group in locks: one change of credentials in it at a time.
	Group string
}

// RepairInput is the input of Repair.
type RepairInput struct {
	ReplicaServer
	// Credentials are what the replica is to log in to the primary with.
	Credentials Credentials
	// StartOwed says that an earlier repair may have stopped the replica and not
	// started it again: then a stopped replica is changed and started, though it
	// reports no error.
	StartOwed bool
	// Verify bounds the wait for the proof that it replicates.
	Verify time.Duration
}

// Replication is what an engine does for replicas.
type Replication interface {
	// Channels reads the status of every channel of a server, in one statement.
	// No channel at all is an empty list, which says nothing about health.
	Channels(ctx context.Context, server Admin) ([]api.Channel, error)

	// AccountVersion is a word that changes when the accounts of that name on
	// the primary do. It is derived from no credential. Empty: not known.
	AccountVersion(ctx context.Context, primary Admin, user string) (string, error)

	// Try proves credentials on the primary: by a login; where the account's
	// host keeps us out, by the stored hash; else it is inconclusive. detail
	// says how, without a credential.
	Try(ctx context.Context, primary Admin, cred Credentials) (t api.Trial, detail string, err error)

	// Backlog tells what a change of credentials would lose. It changes nothing.
	Backlog(ctx context.Context, s ReplicaServer) (api.Backlog, error)

	// Repair sends STOP, CHANGE and START, each once, with user and password
	// only, and waits for the proof that the replica replicates. It holds a
	// named lock on the replica (for the server) and one on the primary (for
	// the group), looks once more before it stops anything, and starts what it
	// stopped also when ctx ends meanwhile. PasswordTooLong comes before STOP.
	Repair(ctx context.Context, in RepairInput) (api.Mending, error)

	// Resume starts the threads of a replica whose IO thread is stopped, under
	// the replica's lock; sent is the statement, empty where it runs. Where START
	// itself would lose events the failure is RelayLogNotApplied.
	Resume(ctx context.Context, s ReplicaServer, threads api.Threads) (sent string, err error)
}
