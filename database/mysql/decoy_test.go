package mysql

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

// An unknown user is asked for the plugin of some other account, which says
// nothing about the unknown one.
func TestAPluginThatIsAskedForIsNoFactAboutAnUnknownUser(t *testing.T) {
	for name, c := range map[string]struct {
		accounts []api.Account
		want     api.Login
	}{
		"no such user":                     {nil, api.LoginRefused},
		"a user for another host":          {[]api.Account{{Host: "10.%", Plugin: "mysql_native_password"}}, api.LoginRefused},
		"a user with such a plugin":        {[]api.Account{{Host: "%", Plugin: "pam"}}, api.LoginUnsupportedPlugin},
		"one of two with such a plugin":    {[]api.Account{{Host: "%", Plugin: "ed25519"}, {Host: "127.%", Plugin: "pam"}}, api.LoginUnsupportedPlugin},
		"a user with several ways to come": {[]api.Account{{Host: "%"}}, api.LoginUnsupportedPlugin},
	} {
		t.Run(name, func(t *testing.T) {
			p := probe{facts: api.Facts{Auth: api.LoginUnsupportedPlugin, Accounts: c.accounts}}
			p.explain()
			assert.Equal(t, c.want, p.facts.Auth)
		})
	}
}

func TestManyAccountsOfAnotherPluginDoNotStandInTheWayOfACreation(t *testing.T) {
	r := newRig(t, "decoy")
	r.exec("INSTALL SONAME 'auth_pam_v1'")
	for i := range 60 {
		name := account(fmt.Sprintf("decoy-%d", i), "%")
		r.exec("CREATE USER " + name + " IDENTIFIED VIA pam USING 'other'")
		t.Cleanup(func() { r.exec("DROP USER " + name) })
	}
	asked := 0
	for i := range 20 {
		seed := database.Seed{Credentials: database.Credentials{Username: fmt.Sprintf("nobody-%d", i), Password: "x"}, Database: fmt.Sprintf("nothing_%d", i)}
		l, err := r.engine.login(t.Context(), r.admin.Address, r.admin.TLS, seed.Credentials, "")
		require.NoError(t, err)
		l.close()
		if l.auth == api.LoginUnsupportedPlugin {
			asked++
		}
		facts, err := r.engine.Probe(t.Context(), r.admin, seed)
		require.NoError(t, err)
		assert.Equal(t, api.LoginRefused, facts.Auth)
		assert.False(t, facts.UserExists)
	}
	assert.Positive(t, asked, "the server did ask for the other plugin")
}
