package workflows

import (
	"fmt"
	"strings"

	"github.com/seedmend/seedmend/api"
)

// Decide turns facts into a verdict, or into the failure that they amount to.
// It is pure: the decision table of the design, row by row.
func Decide(f api.Facts, owner api.Owner, target api.Target) (api.Verdict, *api.Failure) {
	verdict, fail := decide(f, owner, target)
	if fail != nil && f.Hint != "" {
		fail.Message += "; hint: " + f.Hint
	}
	return verdict, fail
}

func decide(f api.Facts, owner api.Owner, target api.Target) (api.Verdict, *api.Failure) {
	if fail := unusable(f, target); fail != nil {
		return "", fail
	}
	own := f.Claim != nil && f.Claim.Owner.Same(owner)
	if own && f.Claim.Phase == api.ClaimCreating {
		return api.VerdictResume, nil
	}
	verdict, fail := decideFacts(f, own, owner, target)
	// What another request has only half made says nothing about the seed.
	half := f.Claim != nil && f.Claim.Phase == api.ClaimCreating
	if fail != nil && !half {
		return "", fail
	}
	if f.Claim != nil && !own {
		return "", Claimed(target.Database, f.Claim.Owner)
	}
	return verdict, nil
}

// unusable handles the accounts that cannot log in whatever the password.
func unusable(f api.Facts, t api.Target) *api.Failure {
	where := server(t)
	switch f.Auth {
	case api.LoginLocked:
		return api.Failf(api.AccountLocked, "account %q on %s is locked", t.Username, where)
	case api.LoginExpired:
		return api.Failf(api.PasswordExpired, "the password of account %q on %s has expired", t.Username, where)
	case api.LoginNeedsTLS:
		return api.Failf(api.TLSRequired, "account %q on %s may log in over TLS only, and this connection has none", t.Username, where)
	case api.LoginUnsupportedPlugin:
		return api.Failf(api.AuthPluginUnsupported, "account %q on %s uses an authentication plugin that seedmend does not speak%s", t.Username, where, plugins(f))
	case api.LoginNoPassword:
		return api.Failf(api.PasswordNotSet, "account %q on %s has no password", t.Username, where)
	case api.LoginOK, api.LoginRefused:
	}
	return nil
}

func decideFacts(f api.Facts, own bool, owner api.Owner, t api.Target) (api.Verdict, *api.Failure) {
	where := server(t)
	switch {
	case f.Auth == api.LoginOK && !f.DatabaseExists:
		return "", api.Failf(api.DatabaseMissing, "user %q can log in on %s, but database %q does not exist there", t.Username, where, t.Database)
	case f.Auth == api.LoginOK && f.Access != api.LoginOK:
		return "", api.Failf(api.AccessDenied, "user %q can log in on %s, but may not use database %q", t.Username, where, t.Database)
	case f.Auth == api.LoginOK && own && f.Claim.Owner.UID == owner.UID:
		return api.VerdictKeep, nil
	case f.Auth == api.LoginOK:
		return api.VerdictAdopt, nil
	case f.DatabaseExists:
		return "", refused(f, api.Failf(api.CredentialsRejected, "database %q exists on %s, and the server refuses user %q with the seed's password%s", t.Database, where, t.Username, accounts(f)))
	case f.UserExists:
		return "", refused(f, api.Failf(api.UserConflict, "user %q exists on %s with another password, and database %q does not exist%s", t.Username, where, t.Database, accounts(f)))
	case own:
		return "", api.Failf(api.DatabaseMissing, "database %q on %s is this request's, but it and its user are gone; nothing is re-created by itself", t.Database, where)
	default:
		return api.VerdictCreate, nil
	}
}

// refused says more where a row's own state explains the refusal.
func refused(f api.Facts, fail *api.Failure) *api.Failure {
	if len(f.Accounts) == 1 {
		switch a := f.Accounts[0]; {
		case a.Locked:
			fail.Reason = api.AccountLocked
			fail.Message += "; the account is locked"
		case a.RequiresTLS != "" && (!f.TLS || a.RequiresTLS != "ANY"):
			fail.Reason = api.TLSRequired
			fail.Message += fmt.Sprintf("; the account demands TLS (%s)", a.RequiresTLS)
		case a.NoPassword:
			fail.Reason = api.PasswordNotSet
			fail.Message += "; the account has no password"
		}
	}
	return fail
}

// accounts lists the rows of that name: with more than one, the most specific
// host wins and may refuse a password that is right for another row.
func accounts(f api.Facts) string {
	if len(f.Accounts) == 0 {
		return ""
	}
	hosts := make([]string, len(f.Accounts))
	for i, a := range f.Accounts {
		hosts[i] = fmt.Sprintf("%q", a.Host)
	}
	return " (accounts of that name are for the hosts " + strings.Join(hosts, ", ") + ")"
}

func plugins(f api.Facts) string {
	var names []string
	for _, a := range f.Accounts {
		if a.Plugin != "" {
			names = append(names, a.Plugin)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// Claimed is the failure for a database that another request owns. The tenant
// is not told whose it is.
func Claimed(databaseName string, owner api.Owner) *api.Failure {
	return api.Failf(api.DatabaseClaimed, "database %q belongs to another request", databaseName).
		ForOperator("owner: %s/%s, uid %s, cluster %s", owner.Namespace, owner.Name, owner.UID, owner.Cluster)
}

func server(t api.Target) string {
	return fmt.Sprintf("%s:%d", t.Connection.Host, t.Connection.Port)
}
