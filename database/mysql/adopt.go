package mysql

import (
	"context"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

// Adopt takes the claim on a database that exists, with origin adopted and phase
// ready. A claim that is the owner's already keeps its origin and comes to name
// this account. One statement, as a rule. Another owner: DatabaseClaimed.
func (e *Engine) Adopt(ctx context.Context, admin database.Admin, owner api.Owner, seed database.Seed, accountHost string) error {
	s, err := e.session(ctx, admin)
	if err != nil {
		return err
	}
	defer s.close()
	user := sqlUser(seed.Username, admin.Username)
	c := s.claimer(seed.Database)
	have, fresh, err := c.take(ctx, api.Claim{
		Owner: owner, Username: user, Host: accountHost, Origin: api.OriginAdopted, Phase: api.ClaimReady,
	})
	if err != nil || fresh {
		return err
	}
	if have.Username == user && have.Host == accountHost && have.Phase == api.ClaimReady {
		return nil
	}
	return c.set(ctx, owner, user, accountHost, api.ClaimReady)
}
