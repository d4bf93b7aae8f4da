package e2e

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
)

// The rows that take a seedmend with other flags.
func TestDecisionsOfATunedSeedmend(t *testing.T) {
	t.Parallel()
	g := calmGround(t)
	rows := tuned(t, g)
	require.NoError(t, g.run(within(t, patience), "--leader-election=false", "--database-tls=disabled", "--deadline=4s", "--seed-wait=2s"))
	decide(t, g, rows)
}

func tuned(t *testing.T, g *ground) map[string]row {
	var dead int
	if g != nil {
		dead = g.deadEnd(t, "dead", "plain")
		require.NoError(t, g.offer(within(t, patience), "encrypted", via(g.Servers["tls"], platform)))
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
			id: "dead", on: "plain", reason: api.ProviderUnreachable, says: []string{"4s", string(api.ServerUnreachable)},
			given: func(x *tenant) { x.selects("dead"); x.seed["port"] = strconv.Itoa(dead); x.patient = true },
		},
		"the seed does not come in time": {
			id: "late", on: "plain", server: everything, reason: api.SeedSecretNotFound, says: []string{"2s"},
			given: func(x *tenant) { x.seed = nil },
		},
		"all is well without TLS": {
			id: "well", on: "plain", reason: api.ReasonCreated, verdict: api.VerdictCreate,
		},
	}
}
