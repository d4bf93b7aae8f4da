package e2e

import (
	"strconv"
	"testing"

	"github.com/seedmend/seedmend/api"
)

// The rows that take a seedmend with other flags.
func TestDecisionsOfATunedSeedmend(t *testing.T) {
	shared.restart(t, "--leader-election=false", "--database-tls=disabled", "--deadline=4s", "--seed-wait=2s")
	t.Cleanup(func() { shared.restart(t) })
	decide(t, shared, tuned(t))
}

// F5: one documented policy for TLS, against servers with and without it.
func TestF05PoliciesForTLS(t *testing.T) {
	t.Cleanup(func() { shared.restart(t) })
	secure := func(x *tenant) { x.selects("encrypted") }
	shared.restart(t, "--leader-election=false", "--database-tls=required")
	decide(t, shared, map[string]row{
		"required, and the server has none":                  {id: "f05-required", server: everything, reason: api.TLSRequired},
		"required, and the server has none; nothing exists":  {id: "f05-required-new", reason: api.TLSRequired},
		"required, and the server's certificate is anyone's": {id: "f05-required-tls", on: "tls", reason: api.ReasonCreated, verdict: api.VerdictCreate, given: secure},
	})
	shared.restart(t, "--leader-election=false", "--database-tls=verify")
	decide(t, shared, map[string]row{
		"verify, and the server's certificate is anyone's": {id: "f05-verify", on: "tls", server: everything, reason: api.TLSRequired, says: []string{"certificate"}, given: secure},
		"verify, and the server has none":                  {id: "f05-verify-none", reason: api.TLSRequired},
	})
}

func tuned(t *testing.T) map[string]row {
	var dead int
	if t != nil {
		dead = shared.deadEnd(t, "dead", "one")
	}
	return map[string]row{
		// MariaDB answers the provider's admin as it answers a wrong password.
		"the server demands TLS, and seedmend's policy is to give none": {
			id: "no-tls", on: "tls", server: everything, reason: api.ProviderCredentialsRejected, says: []string{"TLS"},
			given: func(x *tenant) { x.selects("encrypted") },
		},
		"the server demands TLS, seedmend gives none, and nothing exists": {
			id: "no-tls-at-all", on: "tls", reason: api.ProviderCredentialsRejected, says: []string{"TLS"},
			given: func(x *tenant) { x.selects("encrypted") },
		},
		"the server is not there, until the deadline": {
			id: "dead", reason: api.ProviderUnreachable, says: []string{"4s", string(api.ServerUnreachable)},
			given: func(x *tenant) { x.selects("dead"); x.seed["port"] = strconv.Itoa(dead); x.patient = true },
		},
		"the seed does not come in time": {
			id: "late", server: everything, reason: api.SeedSecretNotFound, says: []string{"2s"},
			given: func(x *tenant) { x.seed = nil },
		},
		"all is well without TLS": {
			id: "well", reason: api.ReasonCreated, verdict: api.VerdictCreate,
		},
	}
}
