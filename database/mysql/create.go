package mysql

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

// anyHost is the host part of accounts that we make.
const anyHost = "%"

// Create makes what the seed describes, under a named lock: the claim (origin
// created, phase creating), the database, the user, its grants; it proves them
// with a table written by the new user, and sets the claim ready.
//
// It may be cut anywhere and be run again: what is there under a claim of the
// same owner in phase creating is finished. With a claim in phase ready only the
// login is proven. Nothing of anybody else's is altered: no ALTER USER, no SET
// PASSWORD, ever.
//
// Where somebody else was faster the failure is CredentialsRejected (their
// database) or UserConflict (their user). A hard failure before anything was
// made gives the claim up; after that it stays, and the next run goes on.
func (e *Engine) Create(ctx context.Context, admin database.Admin, owner api.Owner, seed database.Seed) error {
	if err := checkNew(seed); err != nil {
		return err
	}
	s, err := e.session(ctx, admin)
	if err != nil {
		return err
	}
	// Ends the lock without a statement; a connection costs less than a millisecond.
	defer s.discard()
	c := &creation{
		engine: e, session: s, claims: s.claimer(seed.Database), owner: owner, seed: seed,
		user: sqlUser(seed.Username, admin.Username), tls: admin.TLS,
	}
	if c.lock, err = s.lock(ctx, seed.Database, e.opts.QueryTimeout/2); err != nil {
		return err
	}
	err = c.run(ctx)
	if err != nil && s.broken {
		apart, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.opts.ConnectTimeout)
		defer cancel()
		s.kill(apart, c.lock, c.user, c.proofStatements()...)
	}
	return err
}

type creation struct {
	*session
	engine *Engine
	lock   lock
	claims claimer
	owner  api.Owner
	seed   database.Seed
	user   string
	tls    database.TLS

	// fresh: this run took the claim, so nothing that exists is of our making.
	fresh bool
	// made: this run made something.
	made bool
	// occupied: there are tables. A tenant gets credentials with phase ready
	// only, so they are not of our user's.
	occupied bool
}

func (c *creation) run(ctx context.Context) error {
	if err := c.fits(); err != nil {
		return err
	}
	have, fresh, err := c.claims.take(ctx, api.Claim{
		Owner: c.owner, Username: c.user, Host: anyHost, Origin: api.OriginCreated, Phase: api.ClaimCreating,
	})
	if err != nil {
		return err
	}
	if have.Phase == api.ClaimReady {
		return c.engine.Login(ctx, c.at.addr, c.seed)
	}
	if have.Username != c.user {
		c.engine.opts.Log.Warn("a cut creation goes on with another user; one of the former name may be left",
			"server", c.at.String(), "database", c.seed.Database, "former", have.Username, "user", c.user)
	}
	c.fresh = fresh
	for _, do := range []func(context.Context) error{c.database, c.account, c.grant, c.prove} {
		if err := do(ctx); err != nil {
			return c.giveUp(ctx, err)
		}
	}
	return c.claims.set(ctx, c.owner, c.user, anyHost, api.ClaimReady)
}

// fits refuses, before anything is made, what this server could not hold.
func (c *creation) fits() error {
	if n := c.server.maxUser(); utf8.RuneCountInString(c.user) > n {
		return api.Failf(api.NameInvalid, "%s: user %q is longer than the %d characters that this server allows", c.at, c.user, n)
	}
	// mysql.db holds 64 characters. MariaDB refuses a longer pattern (1102);
	// MySQL 5.6 cuts it off, and after a restart the grant is somebody else's.
	if utf8.RuneCountInString(pattern(c.seed.Database, c.lock.partialRevokes)) > maxDatabase {
		return api.Failf(api.NameInvalid, "%s: database %q cannot be granted alone: with its underscores escaped the name is longer than %d characters",
			c.at, c.seed.Database, maxDatabase)
	}
	return nil
}

// giveUp ends a run; a hard failure before anything was made takes the claim along.
func (c *creation) giveUp(ctx context.Context, err error) error {
	var theirs *notOurs
	if errors.As(err, &theirs) {
		err = theirs.Failure
	}
	var f *api.Failure
	if theirs != nil || errors.As(err, &f) && f.Hard() && c.fresh && !c.made {
		// Should this fail, the claim stays in phase creating and the next run ends the same way.
		_ = c.claims.drop(ctx, c.owner)
	}
	return err
}

// notOurs is a failure that shows that nothing under the claim is of our making.
type notOurs struct{ *api.Failure }

func (e *notOurs) Unwrap() error { return e.Failure }

func (c *creation) database(ctx context.Context) error {
	_, err := c.exec(ctx, "CREATE DATABASE "+ident(c.seed.Database))
	if err == nil {
		c.made = true
		return nil
	}
	if code(err) != codeDatabaseExists {
		return c.at.failure(ctx, stepDatabase, err)
	}
	theirs := &notOurs{api.Failf(api.CredentialsRejected, "%s: database %q exists, and it was not made for this request", c.at, c.seed.Database)}
	if c.fresh {
		return theirs
	}
	var tables, users int
	err = c.conn.QueryRowContext(ctx, "SELECT (SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME <> ?),"+
		" (SELECT COUNT(*) FROM mysql.user WHERE User = ? AND Host = ?)", c.seed.Database, c.proofTable(), c.user, anyHost).Scan(&tables, &users)
	if err != nil {
		c.note(err)
		return c.at.failure(ctx, stepFacts, err)
	}
	c.occupied = tables > 0
	if c.occupied && users == 0 {
		return theirs
	}
	return nil
}

func (c *creation) account(ctx context.Context) error {
	_, err := c.exec(ctx, "CREATE USER "+account(c.user, anyHost)+" IDENTIFIED BY "+literal(c.seed.Password, c.lock.noBackslashEscapes))
	if err == nil {
		c.made = true
		return nil
	}
	if code(err) != codeCannotUser {
		return c.at.failure(ctx, stepUser, err)
	}
	if c.fresh {
		return api.Failf(api.UserConflict, "%s: user %q was created by somebody else meanwhile", c.at, c.user)
	}
	// Only who made it knows the password.
	l, err := c.engine.login(ctx, c.at.addr, c.tls, c.seed.Credentials, "")
	if err != nil {
		return err
	}
	defer l.close()
	if l.auth == api.LoginRefused {
		conflict := api.Failf(api.UserConflict, "%s: user %q exists with another password", c.at, c.user)
		if c.occupied {
			return &notOurs{conflict}
		}
		return conflict
	}
	return c.at.refusal(l, database.Seed{Credentials: c.seed.Credentials})
}

func (c *creation) grant(ctx context.Context) error {
	_, err := c.exec(ctx, "GRANT ALL PRIVILEGES ON "+ident(pattern(c.seed.Database, c.lock.partialRevokes))+".* TO "+account(c.user, anyHost))
	return c.at.failure(ctx, stepGrant, err)
}
