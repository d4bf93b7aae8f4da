package mysql

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/seedmend/seedmend/api"
)

// proofTable has the same name in every run of one owner, so that the next run
// removes what a cut one left.
func (c *creation) proofTable() string {
	sum := sha256.Sum256([]byte(c.owner.Cluster + "/" + c.owner.Namespace + "/" + c.owner.Name))
	return "_seedmend_proof_" + hex.EncodeToString(sum[:6])
}

// proofStatements write to the database of the login. The primary key is for
// servers that demand one.
func (c *creation) proofStatements() []string {
	return []string{"CREATE TABLE " + c.proofTable() + " (id INT PRIMARY KEY)", "DROP TABLE " + c.proofTable()}
}

// prove logs in with exactly the tenant's bytes, and writes.
func (c *creation) prove(ctx context.Context) error {
	l, err := c.engine.login(ctx, c.at.addr, c.tls, c.seed.Credentials, c.seed.Database)
	if err != nil {
		return err
	}
	defer l.close()
	if err := c.at.refusal(l, c.seed); err != nil {
		return api.Failf(api.ProofFailed, "%v, though it has just been set up; another account of that name for a nearer host, or an anonymous one, may stand before it", err)
	}
	for _, statement := range c.proofStatements() {
		err := l.exec(ctx, statement)
		switch code(err) {
		case 0:
			if err != nil {
				c.broken = true
				return l.at.failure(ctx, stepProof, err)
			}
		case codeTableExists:
		case 1044, 1142:
			return api.Failf(api.ProofFailed, "%s: user %q may not write to database %q, though that has just been granted (error %d)",
				c.at, c.user, c.seed.Database, code(err))
		default:
			return l.at.failure(ctx, stepProof, err)
		}
	}
	return nil
}
