package e2e

import (
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
	"github.com/seedmend/seedmend/tests/stage"
)

// verdicts are the rows of the decision table itself.
func verdicts(t *testing.T) map[string]row {
	return map[string]row{
		"database and user exist and work together: adopted, and the data is there": {
			id: "adopt", server: everything, reason: api.ReasonAdopted, verdict: api.VerdictAdopt,
			finally: func(t *testing.T, x *tenant) { x.logsIn(t, "INSERT INTO kept VALUES (2, 'and after')") },
		},
		"nothing exists: created as the seed says": {
			id: "create", reason: api.ReasonCreated, verdict: api.VerdictCreate,
		},
		"nothing exists, and the password has every kind of character": {
			id: "create-odd", reason: api.ReasonCreated, verdict: api.VerdictCreate,
			given: func(x *tenant) { x.password = vault.Password("~'\"\\`;-- %_@:/?#&{}~ pä€\t~ "); x.reseed() },
		},
		"the seed is to be kept: it is": {
			id: "keep", server: everything, reason: api.ReasonAdopted, verdict: api.VerdictAdopt,
			given: func(x *tenant) { x.notes = map[string]string{api.AnnotationKeepSeed: "true"} },
		},
		"the database exists and the user may not use it": {
			id: "no-access", server: []string{aDatabase, aUser}, reason: api.AccessDenied, says: []string{"no-access-user", "no_access_db"},
		},
		"the user has access to another database only": {
			id: "other-access", server: []string{aDatabase, aUser, "GRANT ALL ON `other-access-neighbour`.* TO {user}@'%'"}, reason: api.AccessDenied,
		},
		"the user can log in and the database is missing": {
			id: "no-database", server: []string{aUser}, reason: api.DatabaseMissing, says: []string{"no_database_db"},
		},
		"the user can log in and may use the database that is missing": {
			id: "no-database-yet", server: []string{aUser, access}, reason: api.DatabaseMissing,
		},
		"the database exists and the password is wrong": {
			id: "wrong", server: []string{aDatabase, anotherUser, access}, reason: api.CredentialsRejected, says: []string{"wrong_db", `"%"`},
		},
		"the database exists and the user does not": {
			id: "no-user", server: []string{aDatabase}, reason: api.CredentialsRejected,
		},
		"the user exists with another password and the database is missing": {
			id: "conflict", server: []string{anotherUser}, reason: api.UserConflict, says: []string{"conflict-user"},
		},
		"another request owns the database": {
			id: "claimed", server: everything, reason: api.DatabaseClaimed, never: []string{"first"},
			and: func(t *testing.T, x *tenant) {
				first := *x
				first.namespace = "claimed-first"
				first.play(t).assertReady(t, api.ReasonAdopted, api.VerdictAdopt)
			},
			finally: func(t *testing.T, x *tenant) { x.assertOperatorOnly(t, "claimed-first/mariadb") },
		},
		"another request owns the database, and the password is wrong: nothing is told": {
			id: "claimed-wrong", server: everything, reason: api.CredentialsRejected, never: []string{"another request"},
			and: func(t *testing.T, x *tenant) {
				first := *x
				first.namespace = "claimed-wrong-first"
				first.seed = maps.Clone(x.seed)
				first.play(t).assertReady(t, api.ReasonAdopted, api.VerdictAdopt)
				x.mend(t, map[string]string{"password": x.other})
			},
		},
		"spec.scope in place of selector": {
			id: "scope", reason: api.ReasonCreated, verdict: api.VerdictCreate,
			given: func(x *tenant) {
				x.spec = append(x.spec, func(r *v1alpha1.DatabaseRequest) { r.Spec.Selector, r.Spec.Scope = "", "development" })
			},
		},
		"type mysql is served by the same provider": {
			id: "type-mysql", reason: api.ReasonCreated, verdict: api.VerdictCreate,
			given: func(x *tenant) {
				x.spec = append(x.spec, func(r *v1alpha1.DatabaseRequest) { r.Spec.Type = "mysql" })
			},
		},
		"spec.name has a dash, which is _ in the Secret's keys": {
			id: "dashes", reason: api.ReasonCreated, verdict: api.VerdictCreate,
			given: func(x *tenant) { x.service = "maria-db-2" },
		},
	}
}

// accounts are the rows about accounts that no password opens.
func accounts() map[string]row {
	with := func(id string, reason api.Reason, server ...string) row {
		return row{id: id, server: server, reason: reason}
	}
	return map[string]row{
		"the account is locked":                                                               with("locked", api.AccountLocked, append(everything, aLock)...),
		"the account is locked and the password is wrong":                                     with("locked-wrong", api.AccountLocked, aDatabase, anotherUser, access, aLock),
		"the account is locked and the database missing":                                      with("locked-alone", api.AccountLocked, aUser, aLock),
		"the password has expired":                                                            with("expired", api.PasswordExpired, append(everything, anExpiry)...),
		"the password has expired and the database is missing":                                with("expired-alone", api.PasswordExpired, aUser, anExpiry),
		"the password has expired and the seed's is another":                                  with("expired-wrong", api.CredentialsRejected, aDatabase, anotherUser, access, anExpiry),
		"the account demands TLS, which the server has not":                                   with("demands-tls", api.TLSRequired, append(everything, demandTLS)...),
		"the account demands a certificate on a server without":                               with("demands-x509", api.TLSRequired, append(everything, demandX509)...),
		"the account demands TLS, and the database is missing":                                with("demands-alone", api.TLSRequired, aUser, demandTLS),
		"the account demands a certificate, over TLS":                                         {id: "x509", on: "tls", server: append(everything, demandX509), reason: api.TLSRequired, given: func(x *tenant) { x.selects("encrypted") }},
		"the account demands TLS and gets it":                                                 {id: "gets-tls", on: "tls", server: append(everything, demandTLS), reason: api.ReasonAdopted, verdict: api.VerdictAdopt, given: func(x *tenant) { x.selects("encrypted") }},
		"F05: the server demands TLS, and nobody we know has signed its certificate: adopted": {id: "f05-adopted", on: "tls", server: everything, reason: api.ReasonAdopted, verdict: api.VerdictAdopt, given: func(x *tenant) { x.selects("encrypted") }},
		"F05: the server demands TLS, and nothing exists":                                     {id: "f05-created", on: "tls", reason: api.ReasonCreated, verdict: api.VerdictCreate, given: func(x *tenant) { x.selects("encrypted") }},
		"the account is for unix sockets only":                                                {id: "socket", server: []string{aDatabase, "CREATE USER {user}@'%' IDENTIFIED VIA unix_socket", access}, reason: api.AuthPluginUnsupported, says: []string{"unix_socket"}},
		"the account has no password":                                                         with("no-password", api.PasswordNotSet, aDatabase, "CREATE USER {user}@'%'", access),
		"the account has no password and the database is missing":                             with("no-password-alone", api.PasswordNotSet, "CREATE USER {user}@'%'"),
	}
}

// names are the rows about names that are refused before any SQL: their seeds
// lead to a server that would take them, as root.
func names() map[string]row {
	with := func(id string, reason api.Reason, change func(x *tenant)) row {
		return row{id: id, reason: reason, given: func(x *tenant) { change(x); x.reseed() }, finally: func(t *testing.T, x *tenant) {
			if x.user != platform && x.user != "root" {
				assert.Empty(t, statements(t, x.on, x.user), "nobody logs in with such a seed")
			}
		}}
	}
	return map[string]row{
		"the server's own database":              with("reserved-mysql", api.NameReserved, func(x *tenant) { x.database = "mysql" }),
		"the server's own database in capitals":  with("reserved-case", api.NameReserved, func(x *tenant) { x.database = "MySQL" }),
		"information_schema":                     with("reserved-schema", api.NameReserved, func(x *tenant) { x.database = "information_schema" }),
		"the database of the claims":             with("reserved-claims", api.NameReserved, func(x *tenant) { x.database = "seedmend" }),
		"the user root":                          with("reserved-root", api.NameReserved, func(x *tenant) { x.user = "root" }),
		"the provider's own user":                with("reserved-admin", api.NameReserved, func(x *tenant) { x.user = platform }),
		"a database's name of 65 bytes":          with("long-database", api.NameInvalid, func(x *tenant) { x.database = strings.Repeat("d", 65) }),
		"a user's name of 81 bytes":              with("long-user", api.NameInvalid, func(x *tenant) { x.user = strings.Repeat("u", 81) }),
		"a database's name with a NUL":           with("nul-database", api.NameInvalid, func(x *tenant) { x.database = "nul\x00database" }),
		"a database's name that ends in a space": with("space-database", api.NameInvalid, func(x *tenant) { x.database += " " }),
		"a user's name with an emoji":            with("emoji-user", api.NameInvalid, func(x *tenant) { x.user += "🙂" }),
		"a new user's name with a newline": {
			id: "newline-user", reason: api.NameInvalid, given: func(x *tenant) { x.user += "\n"; x.reseed() },
		},
	}
}

// seeds are the rows about seeds that cannot be used. Those that name a host
// name the trap.
func seeds(trap *trap) map[string]row {
	at := strconv.Itoa(trap.port)
	invalid := func(id, says string, change func(seed map[string]string)) row {
		return row{id: id, reason: api.SeedInvalid, says: []string{says}, given: func(x *tenant) {
			x.selects("trapped")
			x.seed["port"] = at
			change(x.seed)
		}}
	}
	without := func(id, key string) row {
		return invalid(id, strconv.Quote(key), func(seed map[string]string) { delete(seed, key) })
	}
	return map[string]row{
		"the seed has no database":                  without("without-database", "database"),
		"the seed has no username":                  without("without-username", "username"),
		"the seed has no password":                  without("without-password", "password"),
		"the seed has no hostname":                  without("without-hostname", "hostname"),
		"the seed has an empty password":            invalid("empty-password", `"password"`, func(s map[string]string) { s["password"] = "" }),
		"the seed's two spellings of host differ":   invalid("two-hosts", "differ", func(s map[string]string) { s["host"] = "127.0.0.1" }),
		"the seed's host is a URL":                  invalid("url-host", "no hostname", func(s map[string]string) { s["hostname"] = "mysql://localhost" }),
		"the seed's host has a newline in it":       invalid("newline-host", "no hostname", func(s map[string]string) { s["hostname"] = "local\nhost" }),
		"the seed's port is a word":                 invalid("word-port", "no port", func(s map[string]string) { s["port"] = "mysql" }),
		"the seed's port is 0":                      invalid("zero-port", "no port", func(s map[string]string) { s["port"] = "0" }),
		"the seed's port is beyond 65535":           invalid("high-port", "no port", func(s map[string]string) { s["port"] = "65536" }),
		"the seed's port has something after it":    invalid("long-port", "no port", func(s map[string]string) { s["port"] = at + "x" }),
		"the seed's database is not UTF-8":          invalid("bytes-database", "UTF-8", func(s map[string]string) { s["database"] = "\xff\xfe" }),
		"the seed's password holds a NUL":           {id: "nul-password", reason: api.SeedInvalid, says: []string{"NUL"}, given: func(x *tenant) { x.seed["password"] = vault.Password("~\x00") }},
		"the seed says host in place of hostname":   {id: "host", reason: api.ReasonCreated, verdict: api.VerdictCreate, given: func(x *tenant) { x.seed["host"] = "localhost"; delete(x.seed, "hostname") }},
		"the seed says host and hostname, the same": {id: "both-hosts", reason: api.ReasonCreated, verdict: api.VerdictCreate, given: func(x *tenant) { x.seed["host"] = "localhost" }},
		"the request has no seed": {
			id: "seedless", reason: api.SeedRequired,
			given: func(x *tenant) {
				x.seed = nil
				x.spec = append(x.spec, func(r *v1alpha1.DatabaseRequest) { r.Spec.Seed = nil })
			},
		},
		"the seed is in another namespace: it is neither read nor deleted": {
			id: "forbidden", reason: api.SeedForbidden, says: []string{"forbidden-victim"},
			given: func(x *tenant) {
				x.seed = nil
				x.spec = append(x.spec, func(r *v1alpha1.DatabaseRequest) {
					r.Spec.Seed = &v1alpha1.SecretReference{Namespace: "forbidden-victim", Name: "theirs"}
				})
			},
			server: everything, // it would work
			and: func(t *testing.T, x *tenant) {
				made := x.putSecret(t, "forbidden-victim", "theirs", nil, stage.SeedFor(x.on, x.database, x.user, x.password))
				x.version = made.ResourceVersion
			},
			finally: func(t *testing.T, x *tenant) {
				theirs, err := x.g.Client.Kube.CoreV1().Secrets("forbidden-victim").Get(within(t, patience), "theirs", metav1.GetOptions{})
				require.NoError(t, err)
				assert.Equal(t, x.version, theirs.ResourceVersion)
				calls, err := x.g.secretCalls("forbidden-victim")
				require.NoError(t, err)
				assert.Empty(t, calls, "what seedmend asked of that namespace's Secrets")
				calls, err = x.g.secretCalls("forbidden")
				require.NoError(t, err)
				assert.NotEmpty(t, calls, "the audit log works")
			},
		},
		"type mongodb":  {id: "type-mongodb", reason: api.UnsupportedType, says: []string{"mongodb"}, given: ofType("mongodb", at)},
		"type postgres": {id: "type-postgres", reason: api.UnsupportedType, says: []string{"postgres"}, given: ofType("postgres", at)},
		"a name that no label takes": {
			id: "long-name", reason: api.RequestInvalid, says: []string{"64 characters"},
			given: func(x *tenant) { x.name = strings.Repeat("n", 64); x.selects("trapped"); x.seed["port"] = at },
		},
	}
}

func ofType(kind, port string) func(x *tenant) {
	return func(x *tenant) {
		x.selects("trapped")
		x.seed["port"] = port
		x.spec = append(x.spec, func(r *v1alpha1.DatabaseRequest) { r.Spec.Type = kind })
	}
}

// outputs are the rows about names that are taken.
func outputs(t *testing.T, trap *trap) map[string]row {
	trapped := func(x *tenant) { x.selects("trapped"); x.seed["port"] = strconv.Itoa(trap.port) }
	theirs := map[string]string{"MARIADB_PASSWORD": vault.Password(), "token": "theirs"}
	made := map[string]*corev1.Secret{}
	take := func(annotations map[string]string) func(t *testing.T, x *tenant) {
		return func(t *testing.T, x *tenant) {
			made[x.namespace] = x.putSecret(t, x.namespace, x.name, annotations, theirs)
		}
	}
	untouched := func(t *testing.T, x *tenant) {
		assert.Equal(t, made[x.namespace], x.secret(t, x.name), "bytes and resourceVersion")
	}
	return map[string]row{
		"the Secret's name is taken": {
			id: "taken-secret", reason: api.OutputNameTaken, says: []string{"Secret", "mariadb"}, given: trapped, and: take(nil), finally: untouched,
		},
		"the Secret's name is taken, and lets another request in": {
			id: "taken-other", reason: api.OutputNameTaken, given: trapped,
			and: take(map[string]string{api.AnnotationAllowOverwrite: "another"}), finally: untouched,
		},
		"the Service's name is taken": {
			id: "taken-service", reason: api.OutputNameTaken, says: []string{"Service", "mariadb"}, given: trapped,
			and: func(t *testing.T, x *tenant) {
				_, err := x.g.Client.Kube.CoreV1().Services(x.namespace).Create(within(t, patience), &corev1.Service{
					ObjectMeta: metav1.ObjectMeta{Name: x.service},
					Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
				}, createNow)
				require.NoError(t, err)
				x.notes = map[string]string{"service": x.getService(t).ResourceVersion}
			},
			finally: func(t *testing.T, x *tenant) {
				assert.Equal(t, x.notes["service"], x.getService(t).ResourceVersion)
				assert.Nil(t, x.secret(t, x.name))
			},
		},
	}
}

// providers are the rows about which server a seed leads to.
func providers(t *testing.T, trap *trap) map[string]row {
	// Nobody but seeds names the second trap.
	unnamed := trap
	if t != nil {
		unnamed = newTrap(t)
		t.Cleanup(func() { assert.Zero(t, unnamed.calls(), "connections to a host that only a seed names") })
		ctx := within(t, patience)
		m := shared.Servers["one"]
		to := func(name string, port int) v1alpha1.Connection {
			return stage.Connection(name, "localhost", port, platform, m.Name+"-"+platform)
		}
		off := to("off", m.Port)
		off.Enabled = new(bool)
		require.NoError(t, shared.offer(ctx, "trapped", to("trap", trap.port)))
		require.NoError(t, shared.offer(ctx, "disabled", off, to("trap", trap.port)))
		unusable := to("loopback", trap.port)
		unusable.Hostname = "127.0.0.1"
		require.NoError(t, shared.offer(ctx, "loopback", unusable))
		require.NoError(t, shared.offer(ctx, "twice", to("a", trap.port), to("b", trap.port)))
		require.NoError(t, shared.Namespace(ctx, "lagoon"))
		for _, namespace := range []string{"lagoon", "older-tenant"} {
			require.NoError(t, shared.Namespace(ctx, namespace))
			older := &v1alpha1.DatabaseMySQLProvider{ObjectMeta: metav1.ObjectMeta{Name: "older"}}
			older.Spec.Scope, older.Spec.Connections = "older-"+namespace, []v1alpha1.Connection{via(m, platform)}
			_, err := shared.Client.DatabaseMySQLProviders(namespace).Create(ctx, older, createNow)
			require.NoError(t, err)
		}
	}
	// Everything is there, so that a contact would show.
	none := func(id string, given func(x *tenant)) row {
		return row{id: id, server: everything, reason: api.ProviderNotMatched, given: given, finally: func(t *testing.T, x *tenant) {
			assert.Empty(t, statements(t, x.on, x.user), "nobody logs in")
		}}
	}
	return map[string]row{
		"no provider has the selector":               none("selector", func(x *tenant) { x.selects("production") }),
		"the selector matches in another case only":  none("selector-case", func(x *tenant) { x.selects("Development") }),
		"no provider names the port":                 none("port", func(x *tenant) { x.seed["port"] = strconv.Itoa(unnamed.port) }),
		"no provider names the host":                 none("hostname", func(x *tenant) { x.seed["hostname"] = "127.0.0.1" }),
		"no port in the seed is 3306":                none("default-port", func(x *tenant) { delete(x.seed, "port") }),
		"another provider names the host":            none("elsewhere", func(x *tenant) { x.selects("encrypted") }),
		"the connection is disabled":                 none("disabled", func(x *tenant) { x.selects("disabled") }),
		"a tenant's own DatabaseMySQLProvider":       none("older-own", func(x *tenant) { x.selects("older-older-tenant") }),
		"a DatabaseMySQLProvider of the platform's":  {id: "older", reason: api.ReasonCreated, verdict: api.VerdictCreate, given: func(x *tenant) { x.selects("older-lagoon") }},
		"two connections name the host and the port": {id: "twice", reason: api.ProviderAmbiguous, given: func(x *tenant) { x.selects("twice"); x.seed["port"] = strconv.Itoa(trap.port) }, finally: func(t *testing.T, x *tenant) { x.assertOperatorOnly(t, "twice/a, twice/b") }},
		"the provider's host is one that no pod can reach": {
			id: "loopback", reason: api.ProviderHostUnusable, says: []string{"127.0.0.1"},
			given: func(x *tenant) {
				x.selects("loopback")
				x.seed["hostname"], x.seed["port"] = "127.0.0.1", strconv.Itoa(trap.port)
			},
		},
		"a reserved name on a server whose turn has not come": {
			id: "reserved-trap", reason: api.NameReserved,
			given: func(x *tenant) {
				x.selects("trapped")
				x.database = "mysql"
				x.reseed()
				x.seed["port"] = strconv.Itoa(trap.port)
			},
		},
	}
}

// admins are the rows about providers whose own user cannot do what is needed.
func admins(t *testing.T) map[string]row {
	if t != nil {
		ctx := within(t, patience)
		m := shared.Servers["one"]
		to := func(user, secret string) v1alpha1.Connection {
			return stage.Connection(m.Name, "localhost", m.Port, user, secret)
		}
		for user := range weakAdmins {
			require.NoError(t, shared.makeAdmin(ctx, m, user, weakAdmin(user, user)...))
			require.NoError(t, shared.offer(ctx, user, via(m, user)))
		}
		require.NoError(t, shared.Secret(ctx, stage.ProviderNamespace, "admin-wrong", map[string]string{"password": vault.Password()}))
		require.NoError(t, shared.Secret(ctx, stage.ProviderNamespace, "admin-no-key", map[string]string{"pass": vault.Password()}))
		require.NoError(t, shared.makeAdmin(ctx, m, "admin-refused"))
		require.NoError(t, shared.offer(ctx, "admin-wrong", to("admin-refused", "admin-wrong")))
		require.NoError(t, shared.offer(ctx, "admin-absent", to("admin-absent", "admin-absent")))
		require.NoError(t, shared.offer(ctx, "admin-no-key", to("admin-no-key", "admin-no-key")))
		require.NoError(t, shared.makeAdmin(ctx, m, "admin-locked", "ALTER USER `admin-locked`@'%' ACCOUNT LOCK"))
		require.NoError(t, shared.offer(ctx, "admin-locked", via(m, "admin-locked")))
	}
	with := func(id, selector string, reason api.Reason, says ...string) row {
		return row{id: id, reason: reason, says: says, given: func(x *tenant) { x.selects(selector) }}
	}
	creating := func(t *testing.T, x *tenant) additions { return x.claim(t, api.OriginCreated, api.ClaimCreating, "%") }
	noUser, noGrant, noRead := with("weak-user", "admin-without-create-user", api.ProviderPrivilegeMissing, "CREATE USER"),
		with("weak-grant", "admin-without-grant-option", api.ProviderPrivilegeMissing, "GRANT OPTION"),
		with("weak-read", "admin-without-select", api.ProviderPrivilegeMissing, "SELECT")
	// What was half-made stays, under the claim, for the retry to finish.
	noUser.leaves = func(t *testing.T, x *tenant) additions { return union(x.newDatabase(), creating(t, x)) }
	noGrant.leaves = func(t *testing.T, x *tenant) additions { return union(x.newDatabase(), x.newUser(), creating(t, x)) }
	return map[string]row{
		"the admin's password is wrong":           with("bad-admin", "admin-wrong", api.ProviderCredentialsRejected, "admin-refused"),
		"the admin's Secret does not exist":       with("no-admin", "admin-absent", api.ProviderCredentialsRejected, "does not exist"),
		"the admin's Secret has no password":      with("no-key-admin", "admin-no-key", api.ProviderCredentialsRejected, "no key"),
		"the admin's account is locked":           with("locked-admin", "admin-locked", api.ProviderCredentialsRejected, "locked"),
		"the admin may not create users":          noUser,
		"the admin may not grant":                 noGrant,
		"the admin may not read the accounts":     noRead,
		"the admin may not do a thing, but adopt": {id: "adopted-weakly", server: everything, reason: api.ReasonAdopted, verdict: api.VerdictAdopt, given: func(x *tenant) { x.selects("admin-without-grant-option") }},
	}
}

// weakAdmins are admin users that lack one thing each.
var weakAdmins = func() map[string][]string {
	const all = "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, REFERENCES, INDEX, ALTER, CREATE TEMPORARY TABLES, LOCK TABLES," +
		" EXECUTE, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, EVENT, TRIGGER, DELETE HISTORY"
	return map[string][]string{
		// Whoever may INSERT into mysql.* may create users as well.
		"admin-without-create-user": {"GRANT SELECT ON mysql.* TO #", "GRANT ALL ON seedmend.* TO #",
			"GRANT ALL ON `weak%`.* TO # WITH GRANT OPTION", "GRANT ALL ON `f11%`.* TO # WITH GRANT OPTION"},
		"admin-without-grant-option": {"GRANT CREATE USER, " + all + " ON *.* TO #"},
		"admin-without-select":       {"GRANT CREATE USER, CREATE ON *.* TO #", "GRANT ALL ON seedmend.* TO #"},
	}
}()

// weakAdmin are the grants of one of them, for a user.
func weakAdmin(kind, user string) []string {
	var grants []string
	for _, g := range weakAdmins[kind] {
		grants = append(grants, strings.ReplaceAll(g, "#", ident(user)+"@'%'"))
	}
	return grants
}

// oddities are the rows about what stands between us and a server.
func oddities(t *testing.T) map[string]row {
	var blocked, shadowed *relay
	if t != nil {
		ctx := within(t, patience)
		odd := shared.Servers["odd"]
		blocked, shadowed = newRelay(t, odd, "127.0.0.9"), newRelay(t, odd, "127.0.0.10")
		require.NoError(t, shared.offer(ctx, "blocked", stage.Connection("odd", "localhost", blocked.port, platform, "odd-"+platform)))
		require.NoError(t, shared.offer(ctx, "shadowed", stage.Connection("odd", "localhost", shadowed.port, "shadow-admin", "odd-shadow-admin")))
		require.NoError(t, shared.makeAdminFor(ctx, odd, "shadow-admin", "127.0.0.10", adminPrivileges("`shadow-admin`@'127.0.0.10'")...))
	}
	return map[string]row{
		"the server has blocked this host": {
			id: "blocked", on: "odd", reason: api.HostBlocked, says: []string{"1129"},
			given:   func(x *tenant) { x.selects("blocked"); x.seed["port"] = strconv.Itoa(blocked.port) },
			and:     func(t *testing.T, x *tenant) { blocked.block(t) },
			finally: func(t *testing.T, x *tenant) { assert.EqualValues(t, 1, blocked.n.Load(), "one attempt alone") },
		},
		"an anonymous account stands before the new user": {
			id: "shadowed", on: "odd", reason: api.ProofFailed, server: []string{"CREATE USER ''@'127.0.0.10'"},
			given: func(x *tenant) { x.selects("shadowed"); x.seed["port"] = strconv.Itoa(shadowed.port) },
			leaves: func(t *testing.T, x *tenant) additions {
				return union(x.newDatabase(), x.newUser(), x.newGrant(), x.claim(t, api.OriginCreated, api.ClaimCreating, "%"))
			},
		},
		"the account asks for a plugin that the driver does not speak": {
			id: "pam", reason: api.AuthPluginUnsupported, says: []string{"pam"},
			server: []string{"INSTALL SONAME 'auth_pam_v1'", aDatabase, "CREATE USER {user}@'%' IDENTIFIED VIA pam USING 'other'", access},
		},
	}
}
