package e2e

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
	"github.com/seedmend/seedmend/tests/stage"
)

// The field cases play on server two of the shared ground, all at once: each
// looks at its own names only.

// diff tells what has happened to names of a tenant since a snapshot.
func (x *tenant) diff(t *testing.T, before serverState) changes {
	t.Helper()
	return snapshot(t, x.on).since(before).about(x.database, pattern(x.database), x.user)
}

// called gives a tenant other names.
func (x *tenant) called(database, user string) *tenant {
	x.database, x.user = database, user
	x.reseed()
	return x
}

func TestF02AdoptionAltersNothing(t *testing.T) {
	t.Parallel()
	x := shared.tenant("f02", "two")
	require.NoError(t, x.arrange(within(t, patience), everything...))
	before := snapshot(t, x.on)
	x.play(t).assertReady(t, api.ReasonAdopted, api.VerdictAdopt)
	assertAdded(t, x.adopted(t), x.diff(t, before))

	writes := regexp.MustCompile(`(?i)^\s*(ALTER|CREATE|DROP|GRANT|REVOKE|SET\s+PASSWORD|RENAME|INSERT|UPDATE|DELETE|FLUSH)\b`)
	for _, s := range statements(t, x.on, x.user) {
		assert.NotRegexp(t, writes, s.Argument, "as the tenant")
	}
	for _, s := range statements(t, x.on, platform) {
		if strings.Contains(s.Argument, x.user) || strings.Contains(s.Argument, x.database) {
			assert.NotRegexp(t, regexp.MustCompile(`(?i)^\s*(ALTER|CREATE|DROP|GRANT|REVOKE|SET\s+PASSWORD|RENAME)\b`), s.Argument, "as the admin")
		}
	}
	x.logsIn(t, "INSERT INTO kept VALUES (2, 'new')")
}

// Servers that demand TLS, or have none, are in the decision table.
func TestF05AnotherPlugin(t *testing.T) {
	t.Parallel()
	ed25519 := func(id, password string, rest ...string) *tenant {
		x := shared.tenant(id, "two")
		return x.play(t, append([]string{"CREATE USER {user}@'%' IDENTIFIED VIA ed25519 USING PASSWORD(" + password + ")"}, rest...)...)
	}
	require.NoError(t, exec(within(t, patience), shared.Servers["two"], "INSTALL SONAME 'auth_ed25519'"))
	before := snapshot(t, shared.Servers["two"])

	good, bad, alone := ed25519("f05-good", "{password}", aDatabase, access), ed25519("f05-bad", "{other}", aDatabase, access), ed25519("f05-alone", "{other}")
	made := map[*tenant]additions{}
	for _, x := range []*tenant{good, bad, alone} {
		x.settled(t)
		made[x] = additions{}
		for key, each := range x.diff(t, before) {
			if !strings.HasPrefix(key, "claim") {
				made[x][key] = each.after.what // our own arrangement
			}
		}
	}
	good.assertReady(t, api.ReasonAdopted, api.VerdictAdopt)
	bad.assertFailed(t, api.CredentialsRejected)
	alone.assertFailed(t, api.UserConflict)
	assertAdded(t, union(made[good], good.adopted(t)), good.diff(t, before))
	assertAdded(t, made[bad], bad.diff(t, before))
	assertAdded(t, made[alone], alone.diff(t, before))
}

func TestF06TheMoreSpecificHostWins(t *testing.T) {
	t.Parallel()
	for id, host := range map[string]string{"f06-name": "localhost", "f06-address": "127.0.0.1", "f06-pattern": "127.%"} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			x := shared.tenant(id, "two")
			require.NoError(t, x.arrange(within(t, patience), append(everything, "CREATE USER {user}@'"+host+"' IDENTIFIED BY {other}")...))
			before := snapshot(t, x.on)
			x.play(t).assertFailed(t, api.CredentialsRejected, `"%"`, fmt.Sprintf("%q", host))
			assertAdded(t, nil, x.diff(t, before))

			// The row that does let the seed in is the one that the claim names.
			x.mend(t, map[string]string{"password": x.other})
			x.password, x.other = x.other, x.password
			require.NoError(t, x.arrange(within(t, patience), "GRANT ALL PRIVILEGES ON {pattern}.* TO {user}@'"+host+"'"))
			before = snapshot(t, x.on)
			x.force(t)
			x.assertReady(t, api.ReasonAdopted, api.VerdictAdopt)
			assertAdded(t, x.claim(t, api.OriginAdopted, api.ClaimReady, host), x.diff(t, before))
		})
	}
}

func TestF11AMissingPrivilegeIsNamedAndTheRetryFinishes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		id, weak, lacks, mend string
		leaves                func(x *tenant) additions
	}{
		"CREATE USER": {
			"f11-user", "admin-without-create-user", "CREATE USER", "GRANT CREATE USER ON *.* TO #",
			func(x *tenant) additions {
				return union(x.newDatabase(), x.claim(t, api.OriginCreated, api.ClaimCreating, "%"))
			},
		},
		"GRANT OPTION": {
			"f11-grant", "admin-without-grant-option", "GRANT OPTION", "GRANT USAGE ON *.* TO # WITH GRANT OPTION",
			func(x *tenant) additions {
				return union(x.newDatabase(), x.newUser(), x.claim(t, api.OriginCreated, api.ClaimCreating, "%"))
			},
		},
		"SELECT": {
			"f11-read", "admin-without-select", "SELECT", strings.Join(adminPrivileges("#"), ";"),
			func(*tenant) additions { return nil },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := shared.tenant(c.id, "two")
			admin := c.id + "-admin"
			require.NoError(t, shared.makeAdmin(within(t, patience), x.on, admin, weakAdmin(c.weak, admin)...))
			require.NoError(t, shared.offer(within(t, patience), c.id, via(x.on, admin)))
			x.selects(c.id)
			before := snapshot(t, x.on)
			x.play(t).assertFailed(t, api.ProviderPrivilegeMissing, c.lacks, admin)
			assertAdded(t, c.leaves(x), x.diff(t, before))

			sql(t, x.on, strings.Split(strings.ReplaceAll(c.mend, "#", ident(admin)+"@'%'"), ";")...)
			code, out, errs := shared.command(t, "retry", x.key())
			require.Zero(t, code, "%s%s", out, errs)
			verdict := api.VerdictResume
			if c.leaves(x) == nil {
				verdict = api.VerdictCreate
			}
			x.assertReady(t, api.ReasonCreated, verdict)
			assertAdded(t, x.created(t), x.diff(t, before))
			x.logsIn(t)
		})
	}
}

func TestF14NewlinesAtTheEnd(t *testing.T) {
	t.Parallel()
	t.Run("a: the password does end in one", func(t *testing.T) {
		t.Parallel()
		for id, arranged := range map[string][]string{"f14-adopt": everything, "f14-create": nil} {
			x := shared.tenant(id, "two")
			x.password = vault.Password("~\n")
			x.reseed()
			require.NoError(t, x.arrange(within(t, patience), arranged...))
			before := snapshot(t, x.on)
			x.play(t)
			if arranged == nil {
				x.assertReady(t, api.ReasonCreated, api.VerdictCreate)
				assertAdded(t, x.created(t), x.diff(t, before))
			} else {
				x.assertReady(t, api.ReasonAdopted, api.VerdictAdopt)
				assertAdded(t, x.adopted(t), x.diff(t, before))
			}
		}
	})
	t.Run("b: only the seed's does", func(t *testing.T) {
		t.Parallel()
		x := shared.tenant("f14-seed", "two")
		require.NoError(t, x.arrange(within(t, patience), everything...))
		x.seed["password"] += "\n"
		before := snapshot(t, x.on)
		x.play(t).assertFailed(t, api.CredentialsRejected, "password ends in a newline")
		assertAdded(t, nil, x.diff(t, before))
		assert.NotContains(t, x.request(t).Status.Conditions[0].Message, x.password)
	})
	t.Run("b: or its database, or its user", func(t *testing.T) {
		t.Parallel()
		x, y := shared.tenant("f14-database", "two"), shared.tenant("f14-user", "two")
		x.seed["database"] += "\n"
		y.seed["username"] += "\n"
		before := snapshot(t, x.on)
		x.play(t, everything...).assertFailed(t, api.NameInvalid, "database", "newline")
		y.play(t, everything...).assertFailed(t, api.CredentialsRejected, "username ends in a newline")
		assert.NotContains(t, x.diff(t, before), "claim on "+x.database)
		assert.NotContains(t, y.diff(t, before), "account "+y.user+"\n@%")
	})
	t.Run("c: host and port are trimmed", func(t *testing.T) {
		t.Parallel()
		x := shared.tenant("f14-host", "two")
		x.seed["hostname"], x.seed["port"] = " localhost\n", x.seed["port"]+"\n"
		x.play(t).assertReady(t, api.ReasonCreated, api.VerdictCreate)
	})
}

func TestF16NamesThatNeedQuoting(t *testing.T) {
	t.Parallel()
	for database, user := range map[string]string{
		"ak-test": "ak-test", "select": "from", "f16`back``tick": "f16`back", `f16'single"double`: "o'brien",
		"f16 space": `say"hi"`, "f16.dot/slash": "f16@at@%", `f16\back`: `f16\back'`, "f16%_": "blank user", "f16-größe-数据": "größe-数据",
	} {
		t.Run(database, func(t *testing.T) {
			t.Parallel()
			n := fmt.Sprintf("f16-%x", database)
			x := shared.tenant(n[:min(len(n), 60)], "two").called(database, user)
			x.password = vault.Password(`~'"\` + "`" + `~`)
			x.reseed()
			before := snapshot(t, x.on)
			x.play(t).assertReady(t, api.ReasonCreated, api.VerdictCreate)
			assertAdded(t, x.created(t), x.diff(t, before))
			x.logsIn(t)

			// Once more, as somebody else's work that is adopted.
			y := shared.tenant("again-"+x.namespace[:min(len(x.namespace), 50)], "two").called("again-"+database, "again-"+user)
			y.play(t, everything...).assertReady(t, api.ReasonAdopted, api.VerdictAdopt)
			y.logsIn(t)
		})
	}
}

func TestF17AnUnderscoreReachesNoNeighbour(t *testing.T) {
	t.Parallel()
	theirs := shared.tenant("f17-theirs", "two").called("f17projXmain", "f17-theirs")
	ours := shared.tenant("f17-ours", "two").called("f17proj_main", "f17-ours")
	theirs.play(t).assertReady(t, api.ReasonCreated, api.VerdictCreate)
	ours.play(t).assertReady(t, api.ReasonCreated, api.VerdictCreate)
	ours.logsIn(t)
	assert.Error(t, as(within(t, patience), ours.on, ours.user, ours.password, theirs.database), "the neighbour's database")

	// A grant from before us in either spelling is as good as the other.
	for id, grant := range map[string]string{"f17-strict": access, "f17-loose": looseAccess} {
		x := shared.tenant(id, "two")
		require.NoError(t, x.arrange(within(t, patience), aDatabase, aUser, grant))
		before := snapshot(t, x.on)
		x.play(t).assertReady(t, api.ReasonAdopted, api.VerdictAdopt)
		assertAdded(t, x.adopted(t), x.diff(t, before))
	}
}

func TestF19NamesKeepTheirCase(t *testing.T) {
	t.Parallel()
	both := shared.tenant("f19-both", "two").called("F19AppDB", "F19AppUser")
	require.NoError(t, both.arrange(within(t, patience), everything...))
	before := snapshot(t, both.on)
	both.play(t).assertReady(t, api.ReasonAdopted, api.VerdictAdopt)
	assertAdded(t, both.adopted(t), both.diff(t, before))
	assert.Zero(t, query[int](t, both.on, "SELECT COUNT(*) FROM mysql.global_priv WHERE BINARY User = 'f19appuser'"))

	// Only the user in small letters exists: that is another user.
	user := shared.tenant("f19-user", "two").called("F19UserDB", "f19useruser")
	require.NoError(t, user.arrange(within(t, patience), everything...))
	user.called("F19UserDB", "F19UserUser")
	before = snapshot(t, user.on)
	user.play(t).assertFailed(t, api.CredentialsRejected, `"F19UserUser"`)
	assert.NotContains(t, user.request(t).Status.Conditions[0].Message, "accounts of that name")
	assertAdded(t, nil, user.diff(t, before))

	// Only the database in small letters exists.
	database := shared.tenant("f19-database", "two").called("f19databasedb", "F19DatabaseUser")
	require.NoError(t, database.arrange(within(t, patience), everything...))
	database.called("F19DatabaseDB", "F19DatabaseUser")
	before = snapshot(t, database.on)
	database.play(t).assertFailed(t, api.DatabaseMissing)
	assertAdded(t, nil, database.diff(t, before))

	// Neither exists so: both are made, beside the small ones.
	neither := shared.tenant("f19-neither", "two").called("f19neitherdb", "f19neitheruser")
	require.NoError(t, neither.arrange(within(t, patience), everything...))
	neither.called("F19NeitherDB", "F19NeitherUser")
	before = snapshot(t, neither.on)
	neither.play(t).assertReady(t, api.ReasonCreated, api.VerdictCreate)
	assertAdded(t, neither.created(t), neither.diff(t, before))
}

// Hosts are compared without case and without the dot at their end. Addresses
// are tried in package k8s: the API server takes no endpoint on loopback.
func TestF21HostsInAnySpelling(t *testing.T) {
	t.Parallel()
	c := via(shared.Servers["two"], platform)
	c.Hostname = "LocalHost."
	require.NoError(t, shared.offer(within(t, patience), "f21", c))
	for id, host := range map[string]string{"f21-plain": "localhost", "f21-capitals": "LOCALHOST", "f21-dot": "localhost.", "f21-both": "LOCALHOST."} {
		x := shared.tenant(id, "two")
		x.selects("f21")
		x.seed["hostname"] = host
		x.play(t)
		defer x.assertReady(t, api.ReasonCreated, api.VerdictCreate) // which looks at the Service
	}
}

func TestF22InjectionThroughNames(t *testing.T) {
	t.Parallel()
	x := shared.tenant("f22", "two").called("f22`; DROP USER 'root'@'%'; --", `f22'; DROP DATABASE mysql; #"`+"`")
	x.password = vault.Password(`~'; DROP USER 'root'@'%'; -- ~\`)
	x.reseed()
	before := snapshot(t, x.on)
	x.play(t).assertReady(t, api.ReasonCreated, api.VerdictCreate)
	assertAdded(t, x.created(t), x.diff(t, before))
	x.logsIn(t)
	assert.Equal(t, 1, query[int](t, x.on, "SELECT COUNT(*) FROM mysql.global_priv WHERE User = 'root'"))
	for _, who := range []string{platform, x.user} {
		for _, s := range statements(t, x.on, who) {
			assert.NotRegexp(t, `(?i)^\s*DROP (USER|DATABASE)`, s.Argument)
		}
	}
	// In the request itself the API server refuses them.
	_, err := shared.Request(within(t, patience), "f22", "f22-request", func(r *v1alpha1.DatabaseRequest) { r.Spec.Name = "x`; DROP USER 'root'@'%'; -- " })
	assert.Error(t, err)
	// In the selector they are compared, and that is all.
	y := shared.tenant("f22-selector", "two")
	y.selects("x`; DROP USER 'root'@'%'; -- ")
	y.play(t).assertFailed(t, api.ProviderNotMatched)
}

func TestF23OneDatabaseBelongsToOneRequest(t *testing.T) {
	t.Parallel()
	first := shared.tenant("f23-first", "two")
	first.play(t).assertReady(t, api.ReasonCreated, api.VerdictCreate)
	before := snapshot(t, first.on)
	second := *first
	second.namespace = "f23-second"
	second.play(t).assertFailed(t, api.DatabaseClaimed, "another request")
	second.assertOperatorOnly(t, "f23-first/mariadb")
	assertAdded(t, nil, first.diff(t, before))

	requests := func(x *tenant) error {
		return shared.Client.DatabaseRequests(x.namespace).Delete(within(t, patience), x.name, metav1.DeleteOptions{})
	}
	require.NoError(t, requests(&second))
	first.logsIn(t)
	assertAdded(t, nil, first.diff(t, before))

	// Two at once: one of them.
	pairs := make([][2]*tenant, 6)
	for i := range pairs {
		a := shared.tenant(fmt.Sprintf("f23-pair-%d", i), "two")
		b := *a
		b.namespace += "-b"
		pairs[i] = [2]*tenant{a, &b}
		require.NoError(t, a.sow(within(t, patience)))
		require.NoError(t, b.sow(within(t, patience)))
	}
	before = snapshot(t, first.on)
	for _, p := range pairs {
		require.NoError(t, p[0].ask(within(t, patience)))
		require.NoError(t, p[1].ask(within(t, patience)))
	}
	for _, p := range pairs {
		winner, loser := p[0], p[1]
		for _, x := range p {
			x.settled(t)
			if ready := x.request(t).Status.Conditions[0]; ready.Status == metav1.ConditionTrue {
				winner = x
			} else {
				loser = x
			}
		}
		winner.assertReady(t, api.ReasonCreated, api.VerdictCreate)
		loser.assertFailed(t, api.DatabaseClaimed, "another request")
		assertAdded(t, winner.created(t), winner.diff(t, before))
	}
}

func TestF32AnObjectThatOptsIn(t *testing.T) {
	t.Parallel()
	x := shared.tenant("f32", "two")
	theirs := x.putSecret(t, x.namespace, x.name, map[string]string{api.AnnotationAllowOverwrite: x.name, "theirs": "too"},
		map[string]string{"token": "theirs", "MARIADB_PASSWORD": vault.Password()})
	x.play(t)
	x.settled(t)
	x.assertConditions(t, api.ReasonCreated, false)
	want := x.outputs()
	want["token"] = []byte("theirs")
	is := x.secret(t, x.name)
	assert.Equal(t, want, is.Data, "our keys are set, theirs are as they were")
	assert.Equal(t, theirs.Annotations, is.Annotations)
	assert.Equal(t, theirs.Labels, is.Labels)
	assert.Empty(t, is.OwnerReferences)
	assert.Equal(t, theirs.UID, is.UID)
	x.logsIn(t)
	x.assertSeedGone(t)
}

func TestF50AHardFailureStaysHardAtEveryLevel(t *testing.T) {
	t.Parallel()
	// Soft at first, so that the long retries have the step when it fails hard.
	x := shared.tenant("f50", "two")
	x.patient = true
	port := deadPort(t)
	require.NoError(t, shared.makeAdmin(within(t, patience), x.on, "f50-admin"))
	require.NoError(t, shared.Secret(within(t, patience), stage.ProviderNamespace, "f50-wrong", map[string]string{"password": vault.Password()}))
	require.NoError(t, shared.offer(within(t, patience), "f50", stage.Connection("two", "localhost", port, "f50-admin", "f50-wrong")))
	x.selects("f50")
	x.seed["port"] = strconv.Itoa(port)
	x.play(t, everything...)
	told := map[string]bool{}
	eventually(t, func(context.Context) error {
		for _, c := range x.request(t).Status.Conditions {
			if c.Type == api.ConditionReady && c.Reason == string(api.ReasonRetrying) {
				assert.Equal(t, metav1.ConditionFalse, c.Status)
				told[c.Message] = true
			}
		}
		if len(told) < 2 {
			return fmt.Errorf("no word of two retries yet: %v", told)
		}
		return nil
	})
	for message := range told {
		assert.Regexp(t, `^attempt \d+: ServerUnreachable: .*; next try at \d{4}-`, message, "attempt, cause, next try")
	}
	at(t, port, x.on)
	x.assertFailed(t, api.ProviderCredentialsRejected, "f50-admin")
	var hard int
	for _, each := range x.tries(t, x.events(t)) {
		if each.regular {
			hard++
			assertHard(t, api.ProviderCredentialsRejected, each.failure)
			assert.Equal(t, enums.RETRY_STATE_NON_RETRYABLE_FAILURE, each.state)
			assert.Greater(t, each.attempt, int32(2), "%s was tried again while it failed softly", each.step)
		}
	}
	assert.Equal(t, 1, hard, "one step went to the long retries")
	assert.Equal(t, 1, logins(t, x.on, "f50-admin"), "and the wrong password was tried once")
}

// The seed may come after the request; what doubles are sent meanwhile is nothing.
func TestASeedThatComesLate(t *testing.T) {
	t.Parallel()
	x := shared.tenant("late-seed", "two")
	require.NoError(t, shared.Namespace(within(t, patience), x.namespace))
	require.NoError(t, x.ask(within(t, patience)))
	eventually(t, func(context.Context) error {
		for _, c := range x.request(t).Status.Conditions {
			if c.Type == api.ConditionReady && c.Reason == string(api.ReasonWaitingForSeed) {
				return nil
			}
		}
		return fmt.Errorf("it does not say that it waits")
	})
	same := api.Request{Namespace: x.namespace, Name: x.name, UID: x.uid, Generation: 1}
	for range 5 {
		require.NoError(t, shared.Workflows.SignalWorkflow(within(t, patience), x.workflow(), "", api.SignalReconcile, api.ReconcileSignal{Request: same}))
	}
	require.NoError(t, x.sow(within(t, patience)))
	x.assertReady(t, api.ReasonCreated, api.VerdictCreate)
	x.assertSeedGone(t)
	assert.Len(t, x.runs(t), 1)
	x.logsIn(t)
}
