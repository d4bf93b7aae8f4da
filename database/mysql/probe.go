package mysql

import (
	"context"
	"strings"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

// Probe logs in with the seed and asks the admin what exists. It changes
// nothing. Statements: one as the admin (one more as long as the server has no
// table of claims), one as the seed where the login stands.
func (e *Engine) Probe(ctx context.Context, admin database.Admin, seed database.Seed) (api.Facts, error) {
	p, err := e.look(ctx, admin, seed)
	// A claim comes before its creation, and is read last. One that is done
	// may have been made between our login and that reading: look again.
	if c := p.facts.Claim; err == nil && c != nil && c.Phase != api.ClaimCreating && p.facts.Access != api.LoginOK {
		p, err = e.look(ctx, admin, seed)
	}
	if err != nil {
		return api.Facts{}, err
	}
	p.explain()
	return p.facts, nil
}

func (e *Engine) look(ctx context.Context, admin database.Admin, seed database.Seed) (probe, error) {
	p := probe{seed: seed, user: sqlUser(seed.Username, admin.Username)}
	if err := p.login(ctx, e, admin.Address, admin.TLS); err != nil {
		return p, err
	}
	s, err := e.session(ctx, admin)
	if err != nil {
		return p, err
	}
	defer s.close()
	return p, p.ask(ctx, s)
}

// probe collects the facts about one seed.
type probe struct {
	seed  database.Seed
	user  string // the account's name, without the suffix that some clouds want at login
	facts api.Facts
	// needsTLS: the server takes no login without.
	needsTLS bool
}

// login logs in to the database at once: where that stands, both facts are known
// from one login, and a wrong password is tried once only, since servers count.
// An answer about the database is confirmed by a login without one.
func (p *probe) login(ctx context.Context, e *Engine, addr database.Address, t database.TLS) error {
	l, err := e.login(ctx, addr, t, p.seed.Credentials, p.seed.Database)
	if err != nil {
		return err
	}
	access := l.access
	if l.auth == api.LoginOK && l.access != api.LoginOK {
		if l, err = e.login(ctx, addr, t, p.seed.Credentials, ""); err != nil {
			return err
		}
	}
	defer l.close()
	if l.auth == api.LoginOK {
		current, err := l.currentUser(ctx)
		if err != nil {
			return err
		}
		p.account(current)
	}
	p.facts.Auth, p.facts.TLS = l.auth, l.tls
	if l.auth == api.LoginOK {
		p.facts.Access = access
	}
	return nil
}

// account reads CURRENT_USER(): the row that the login used, user@host.
func (p *probe) account(current string) {
	at := strings.LastIndexByte(current, '@')
	if at < 0 {
		return
	}
	p.facts.AccountHost = current[at+1:]
	if name := current[:at]; name != p.user && name != p.seed.Username {
		p.facts.Hint = "the server takes this login for another account (an anonymous or a proxied one)"
	}
}

// noPassword are plugins that look at something else than a password.
var noPassword = map[string]bool{"unix_socket": true, "auth_socket": true, "mysql_no_login": true}

// speaks tells whether the driver speaks an account's plugin. A row with several
// ways to log in has none here, and may hold one that the driver does not speak.
func speaks(a api.Account) bool {
	switch a.Plugin {
	case "mysql_native_password", "caching_sha2_password", "sha256_password", "ed25519":
		return true
	}
	return false
}

// explain turns "refused" into what the account rows show, where it holds for
// every one of them: the server does not say which one it took.
func (p *probe) explain() {
	f := &p.facts
	every := func(is func(api.Account) bool) bool {
		for _, a := range f.Accounts {
			if !is(a) {
				return false
			}
		}
		return len(f.Accounts) > 0
	}
	// So that nobody can tell who exists, a server asks an unknown user for
	// the plugin of an account picked at random (tried on MariaDB 10.11).
	if len(f.Accounts) == 0 && f.Auth == api.LoginUnsupportedPlugin {
		f.Auth = api.LoginRefused
	}
	if f.Auth == api.LoginUnsupportedPlugin && every(speaks) {
		f.Auth = api.LoginRefused
	}
	if f.Auth == api.LoginRefused {
		switch {
		case p.needsTLS && !f.TLS:
			f.Auth = api.LoginNeedsTLS
		case every(func(a api.Account) bool { return noPassword[a.Plugin] }):
			f.Auth = api.LoginUnsupportedPlugin
		case every(func(a api.Account) bool { return a.NoPassword }):
			f.Auth = api.LoginNoPassword
		case every(func(a api.Account) bool {
			// We have no client certificate to show.
			return a.RequiresTLS == "X509" || a.RequiresTLS == "SPECIFIED" || a.RequiresTLS == "ANY" && !f.TLS
		}):
			f.Auth = api.LoginNeedsTLS
		}
	}
	if f.Hint == "" && (f.Auth != api.LoginOK || !f.DatabaseExists) {
		f.Hint = hint(p.seed)
	}
}
