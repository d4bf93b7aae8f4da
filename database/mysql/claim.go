package mysql

import (
	"context"
	"database/sql"
	"errors"

	"github.com/seedmend/seedmend/api"
)

// The claims of a server are on the server itself. PAD SPACE of the collation
// makes no two names one: a database's name cannot end in a space.
const (
	claimsDatabase = "seedmend"
	claimsTable    = "seedmend.claims"

	createClaimsDatabase = "CREATE DATABASE IF NOT EXISTS " + claimsDatabase + " DEFAULT CHARACTER SET utf8mb4"
	createClaimsTable    = "CREATE TABLE IF NOT EXISTS " + claimsTable + ` (
 database_name VARCHAR(64) NOT NULL PRIMARY KEY,
 owner_uid VARCHAR(64) NOT NULL,
 namespace VARCHAR(63) NOT NULL,
 name VARCHAR(253) NOT NULL,
 cluster_uid VARCHAR(64) NOT NULL,
 username VARCHAR(128) NOT NULL,
 host VARCHAR(255) NOT NULL,
 origin VARCHAR(16) NOT NULL,
 phase VARCHAR(16) NOT NULL,
 created_at DATETIME NOT NULL COMMENT 'UTC',
 updated_at DATETIME NOT NULL COMMENT 'UTC'
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`
)

// Codes that tell states apart.
const (
	codeDatabaseExists = 1007
	codeNoDatabase     = 1049
	codeTableExists    = 1050
	codeDuplicate      = 1062
	codeNoTable        = 1146
	codeCannotUser     = 1396
)

// noClaims tells that the server has no table of claims.
func noClaims(err error) bool {
	c := code(err)
	return c == codeNoTable || c == codeNoDatabase
}

// claimer reads and writes the claim on one database.
type claimer struct {
	*session
	database string // the seed's
	key      string // as the server compares it
}

func (s *session) claimer(database string) claimer {
	return claimer{s, database, s.server.key(database)}
}

// take takes the claim, or finds it taken by the same owner. The primary key
// decides between two at once. fresh says that this call took it.
func (c claimer) take(ctx context.Context, want api.Claim) (have api.Claim, fresh bool, err error) {
	for range 3 {
		err = c.insert(ctx, want)
		if err == nil {
			return want, true, nil
		}
		if code(err) != codeDuplicate {
			return have, false, c.at.failure(ctx, stepClaim, err)
		}
		have, err = c.read(ctx)
		if errors.Is(err, sql.ErrNoRows) {
			continue // given up meanwhile
		}
		if err != nil {
			return have, false, c.at.failure(ctx, stepClaim, err)
		}
		if !have.Owner.Same(want.Owner) {
			return have, false, c.taken(have.Owner)
		}
		if have.Owner.UID == want.Owner.UID {
			return have, false, nil
		}
		// The object was deleted and made again under its name.
		n, err := c.exec(ctx, "UPDATE "+claimsTable+" SET owner_uid = ?, updated_at = UTC_TIMESTAMP() WHERE database_name = ? AND owner_uid = ?",
			want.Owner.UID, c.key, have.Owner.UID)
		if err != nil {
			return have, false, c.at.failure(ctx, stepClaim, err)
		}
		if n == 1 {
			have.Owner = want.Owner
			return have, false, nil
		}
	}
	return have, false, c.changed()
}

func (c claimer) insert(ctx context.Context, w api.Claim) error {
	insert := func() error {
		_, err := c.exec(ctx, "INSERT INTO "+claimsTable+" (database_name, owner_uid, namespace, name, cluster_uid, username, host, origin, phase, created_at, updated_at)"+
			" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, UTC_TIMESTAMP(), UTC_TIMESTAMP())",
			c.key, w.Owner.UID, w.Owner.Namespace, w.Owner.Name, w.Owner.Cluster, w.Username, w.Host, w.Origin, w.Phase)
		return err
	}
	err := insert()
	if !noClaims(err) {
		return err
	}
	for _, statement := range []string{createClaimsDatabase, createClaimsTable} {
		if _, err := c.exec(ctx, statement); err != nil {
			return c.at.failure(ctx, stepClaims, err)
		}
	}
	return insert()
}

func (c claimer) read(ctx context.Context) (claim api.Claim, err error) {
	o := &claim.Owner
	err = c.conn.QueryRowContext(ctx, "SELECT owner_uid, namespace, name, cluster_uid, username, host, origin, phase FROM "+claimsTable+" WHERE database_name = ?", c.key).
		Scan(&o.UID, &o.Namespace, &o.Name, &o.Cluster, &claim.Username, &claim.Host, &claim.Origin, &claim.Phase)
	if !errors.Is(err, sql.ErrNoRows) {
		c.note(err)
	}
	return claim, err
}

// set writes account and phase of a claim that is ours.
func (c claimer) set(ctx context.Context, owner api.Owner, username, host, phase string) error {
	n, err := c.exec(ctx, "UPDATE "+claimsTable+" SET username = ?, host = ?, phase = ?, updated_at = UTC_TIMESTAMP() WHERE database_name = ? AND owner_uid = ?",
		username, host, phase, c.key, owner.UID)
	if err != nil {
		return c.at.failure(ctx, stepClaim, err)
	}
	if n == 1 {
		return nil
	}
	// Zero rows changed: lost, or written in this very second by a run of ours.
	have, err := c.read(ctx)
	if err == nil && have.Owner.UID == owner.UID && have.Username == username && have.Host == host && have.Phase == phase {
		return nil
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return c.at.failure(ctx, stepClaim, err)
	}
	return c.changed()
}

// drop gives up a claim under which nothing was made.
func (c claimer) drop(ctx context.Context, owner api.Owner) error {
	_, err := c.exec(ctx, "DELETE FROM "+claimsTable+" WHERE database_name = ? AND owner_uid = ? AND phase = ?", c.key, owner.UID, api.ClaimCreating)
	return err
}

func (c claimer) taken(by api.Owner) error {
	return api.Failf(api.DatabaseClaimed, "%s: database %q belongs to another request", c.at, c.database).
		ForOperator("request %s/%s (UID %s) of cluster %s", by.Namespace, by.Name, by.UID, by.Cluster)
}

func (c claimer) changed() error {
	return api.Failf(api.DatabaseError, "%s: the claim on database %q changed while it was looked at", c.at, c.database)
}
