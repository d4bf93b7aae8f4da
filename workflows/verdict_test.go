package workflows_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/workflows"
)

func TestDecide(t *testing.T) {
	us := api.Owner{UID: "uid-1", Namespace: "shop", Name: "mariadb", Cluster: "c"}
	them := api.Owner{UID: "uid-9", Namespace: "rival", Name: "mariadb", Cluster: "c"}
	claim := func(o api.Owner, phase string) *api.Claim {
		return &api.Claim{Owner: o, Origin: api.OriginCreated, Phase: phase}
	}
	reborn := us
	reborn.UID = "uid-2"
	ok, no := api.LoginOK, api.LoginRefused

	for name, c := range map[string]struct {
		facts   api.Facts
		verdict api.Verdict
		reason  api.Reason
		says    string
	}{
		"login, database and access: adopted":              {facts: api.Facts{Auth: ok, DatabaseExists: true, Access: ok}, verdict: api.VerdictAdopt},
		"login and database, no access":                    {facts: api.Facts{Auth: ok, DatabaseExists: true, Access: no}, reason: api.AccessDenied},
		"login, no database":                               {facts: api.Facts{Auth: ok}, reason: api.DatabaseMissing},
		"refused, database exists, user exists":            {facts: api.Facts{Auth: no, DatabaseExists: true, UserExists: true}, reason: api.CredentialsRejected},
		"refused, database exists, user missing":           {facts: api.Facts{Auth: no, DatabaseExists: true}, reason: api.CredentialsRejected},
		"refused, database missing, user exists":           {facts: api.Facts{Auth: no, UserExists: true}, reason: api.UserConflict},
		"nothing exists: created":                          {facts: api.Facts{Auth: no}, verdict: api.VerdictCreate},
		"locked":                                           {facts: api.Facts{Auth: api.LoginLocked}, reason: api.AccountLocked},
		"expired":                                          {facts: api.Facts{Auth: api.LoginExpired}, reason: api.PasswordExpired},
		"needs TLS":                                        {facts: api.Facts{Auth: api.LoginNeedsTLS}, reason: api.TLSRequired},
		"unknown plugin is named":                          {facts: api.Facts{Auth: api.LoginUnsupportedPlugin, Accounts: []api.Account{{Host: "%", Plugin: "gssapi"}}}, reason: api.AuthPluginUnsupported, says: "gssapi"},
		"no password set":                                  {facts: api.Facts{Auth: api.LoginNoPassword}, reason: api.PasswordNotSet},
		"refused because locked":                           {facts: api.Facts{Auth: no, UserExists: true, Accounts: []api.Account{{Host: "%", Locked: true}}}, reason: api.AccountLocked},
		"refused because the account wants TLS":            {facts: api.Facts{Auth: no, UserExists: true, DatabaseExists: true, Accounts: []api.Account{{Host: "%", RequiresTLS: "ANY"}}}, reason: api.TLSRequired},
		"refused over TLS because a certificate is wanted": {facts: api.Facts{Auth: no, TLS: true, UserExists: true, Accounts: []api.Account{{Host: "%", RequiresTLS: "X509"}}}, reason: api.TLSRequired},
		"refused over TLS by an account that wants TLS":    {facts: api.Facts{Auth: no, TLS: true, UserExists: true, DatabaseExists: true, Accounts: []api.Account{{Host: "%", RequiresTLS: "ANY"}}}, reason: api.CredentialsRejected},
		"refused because there is no password":             {facts: api.Facts{Auth: no, UserExists: true, Accounts: []api.Account{{Host: "%", NoPassword: true}}}, reason: api.PasswordNotSet},
		"two accounts of one name are listed":              {facts: api.Facts{Auth: no, UserExists: true, DatabaseExists: true, Accounts: []api.Account{{Host: "%"}, {Host: "10.%"}}}, reason: api.CredentialsRejected, says: `"%", "10.%"`},
		"a newline at the end is hinted at":                {facts: api.Facts{Auth: no, DatabaseExists: true, Hint: "value of key password ends in a newline"}, reason: api.CredentialsRejected, says: "ends in a newline"},
		"another's claim on what could be adopted":         {facts: api.Facts{Auth: ok, DatabaseExists: true, Access: ok, Claim: claim(them, api.ClaimReady)}, reason: api.DatabaseClaimed},
		"another's claim on what could be created":         {facts: api.Facts{Auth: no, Claim: claim(them, api.ClaimCreating)}, reason: api.DatabaseClaimed},
		"a wrong seed learns nothing of another's claim":   {facts: api.Facts{Auth: no, DatabaseExists: true, Claim: claim(them, api.ClaimReady)}, reason: api.CredentialsRejected},
		"another's half-made creation, its grants missing": {facts: api.Facts{Auth: ok, DatabaseExists: true, Access: no, Claim: claim(them, api.ClaimCreating)}, reason: api.DatabaseClaimed},
		"another's half-made creation, its user missing":   {facts: api.Facts{Auth: no, DatabaseExists: true, Claim: claim(them, api.ClaimCreating)}, reason: api.DatabaseClaimed},
		"our half-made creation is resumed, user missing":  {facts: api.Facts{Auth: no, DatabaseExists: true, Claim: claim(us, api.ClaimCreating)}, verdict: api.VerdictResume},
		"our half-made creation is resumed, all there":     {facts: api.Facts{Auth: ok, DatabaseExists: true, Access: ok, Claim: claim(us, api.ClaimCreating)}, verdict: api.VerdictResume},
		"ours and working":                                 {facts: api.Facts{Auth: ok, DatabaseExists: true, Access: ok, Claim: claim(us, api.ClaimReady)}, verdict: api.VerdictKeep},
		"ours, and the password was changed":               {facts: api.Facts{Auth: no, DatabaseExists: true, UserExists: true, Claim: claim(us, api.ClaimReady)}, reason: api.CredentialsRejected},
		"ours, and all is gone: nothing is made anew":      {facts: api.Facts{Auth: no, Claim: claim(us, api.ClaimReady)}, reason: api.DatabaseMissing},
		"the claim of our former object is ours":           {facts: api.Facts{Auth: ok, DatabaseExists: true, Access: ok, Claim: claim(reborn, api.ClaimReady)}, verdict: api.VerdictAdopt},
		"the same name in another cluster is not ours": {facts: api.Facts{Auth: ok, DatabaseExists: true, Access: ok,
			Claim: claim(api.Owner{UID: "uid-1", Namespace: "shop", Name: "mariadb", Cluster: "d"}, api.ClaimReady)}, reason: api.DatabaseClaimed},
	} {
		t.Run(name, func(t *testing.T) {
			verdict, fail := workflows.Decide(c.facts, us, target)
			assert.Equal(t, c.verdict, verdict)
			if c.reason == "" {
				assert.Nil(t, fail)
				return
			}
			if assert.NotNil(t, fail) {
				assert.Equal(t, c.reason, fail.Reason)
				assert.Contains(t, fail.Message, c.says)
				assert.NotContains(t, fail.Message, "rival", "a tenant is not told who owns a database")
			}
		})
	}
}
