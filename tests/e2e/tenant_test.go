package e2e

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
	"github.com/seedmend/seedmend/tests/lab"
	"github.com/seedmend/seedmend/tests/stage"
)

// tenant is one DatabaseRequest with its seed, in a namespace of its own.
type tenant struct {
	g         *ground
	on        *lab.MariaDB
	namespace string
	name      string // of the request, and so of its Secret
	service   string // spec.name

	database, user, password string
	other                    string // a password that is not the seed's

	seed    map[string]string // the data of the seed Secret; nil for none
	notes   map[string]string // the seed Secret's annotations
	spec    []func(*v1alpha1.DatabaseRequest)
	version string // resourceVersion of the seed Secret as it was made
	uid     string

	patient bool // soft failures, and so several attempts, are expected
}

// tenant whose names all begin with id.
func (g *ground) tenant(id, server string) *tenant {
	x := &tenant{
		g: g, on: g.Servers[server], namespace: id, name: "mariadb", service: "mariadb",
		database: strings.ReplaceAll(id, "-", "_") + "_db", user: id + "-user",
		password: vault.Password(), other: vault.Password(),
	}
	x.reseed()
	return x
}

// reseed makes the seed's data anew from the fields.
func (x *tenant) reseed() { x.seed = stage.SeedFor(x.on, x.database, x.user, x.password) }

// selects another provider than development.
func (x *tenant) selects(selector string) {
	x.spec = append(x.spec, func(r *v1alpha1.DatabaseRequest) { r.Spec.Selector = selector })
}

func (x *tenant) key() string      { return x.namespace + "/" + x.name }
func (x *tenant) workflow() string { return api.DatabaseWorkflowID(x.namespace, x.name) }
func (x *tenant) seedName() string { return x.name + "-seed" }

// Pieces of a server's state, in terms of a tenant.
const (
	aDatabase     = "CREATE DATABASE {database}"
	aUser         = "CREATE USER {user}@'%' IDENTIFIED BY {password}"
	anotherUser   = "CREATE USER {user}@'%' IDENTIFIED BY {other}" // another password, that is
	access        = "GRANT ALL PRIVILEGES ON {pattern}.* TO {user}@'%'"
	looseAccess   = "GRANT ALL PRIVILEGES ON {database}.* TO {user}@'%'" // _ not escaped
	aTable        = "CREATE TABLE {database}.kept (id INT PRIMARY KEY, note TEXT)"
	aRow          = "INSERT INTO {database}.kept VALUES (1, 'here before seedmend')"
	aLock         = "ALTER USER {user}@'%' ACCOUNT LOCK"
	anExpiry      = "ALTER USER {user}@'%' PASSWORD EXPIRE"
	demandTLS     = "ALTER USER {user}@'%' REQUIRE SSL"
	demandX509    = "ALTER USER {user}@'%' REQUIRE X509"
	goneIsTheUser = "DROP USER {user}@'%'"
)

// everything makes database, user and access, with something in it.
var everything = []string{aDatabase, aUser, access, aTable, aRow}

// arrange runs statements on the tenant's server.
func (x *tenant) arrange(ctx context.Context, statements ...string) error {
	fill := strings.NewReplacer("{database}", ident(x.database), "{pattern}", ident(pattern(x.database)), "{user}", ident(x.user),
		"{password}", literal(x.password), "{other}", literal(x.other))
	for _, s := range statements {
		if err := exec(ctx, x.on, fill.Replace(s)); err != nil {
			return err
		}
	}
	return nil
}

// sow makes namespace and seed.
func (x *tenant) sow(ctx context.Context) error {
	if err := x.g.Namespace(ctx, x.namespace); err != nil {
		return err
	}
	if x.seed == nil {
		return nil
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: x.namespace, Name: x.seedName(), Annotations: x.notes}, Data: map[string][]byte{}}
	for k, v := range x.seed {
		secret.Data[k] = []byte(v)
	}
	made, err := x.g.Client.Kube.CoreV1().Secrets(x.namespace).Create(ctx, secret, metav1.CreateOptions{})
	if err == nil {
		x.version = made.ResourceVersion
	}
	return err
}

// mend sets keys of the seed Secret, as a person does.
func (x *tenant) mend(t *testing.T, values map[string]string) {
	t.Helper()
	maps.Copy(x.seed, values)
	secrets := x.g.Client.Kube.CoreV1().Secrets(x.namespace)
	secret, err := secrets.Get(within(t, patience), x.seedName(), metav1.GetOptions{})
	require.NoError(t, err)
	for k, v := range values {
		secret.Data[k] = []byte(v)
	}
	secret, err = secrets.Update(within(t, patience), secret, metav1.UpdateOptions{})
	require.NoError(t, err)
	x.version = secret.ResourceVersion
}

// ask makes the request.
func (x *tenant) ask(ctx context.Context) error {
	spec := append([]func(*v1alpha1.DatabaseRequest){func(r *v1alpha1.DatabaseRequest) {
		r.Spec.Name = x.service
		r.Spec.Seed.Name = x.seedName()
	}}, x.spec...)
	r, err := x.g.Request(ctx, x.namespace, x.name, spec...)
	if err == nil {
		x.uid = string(r.UID)
	}
	return err
}

// play arranges the server, sows and asks.
func (x *tenant) play(t *testing.T, statements ...string) *tenant {
	t.Helper()
	ctx := within(t, patience)
	require.NoError(t, x.arrange(ctx, statements...))
	require.NoError(t, x.sow(ctx))
	require.NoError(t, x.ask(ctx))
	return x
}

// settled waits for the end, of the request and of its workflow.
func (x *tenant) settled(t *testing.T) *v1alpha1.DatabaseRequest {
	t.Helper()
	r, err := x.g.Settled(within(t, patience), x.namespace, x.name)
	require.NoError(t, err)
	x.closed(t)
	return r
}

func (x *tenant) request(t *testing.T) *v1alpha1.DatabaseRequest {
	t.Helper()
	r, err := x.g.Get(within(t, patience), x.namespace, x.name)
	require.NoError(t, err)
	return r
}

// patch changes the request.
func (x *tenant) patch(t *testing.T, merge string) {
	t.Helper()
	_, err := x.g.Client.DatabaseRequests(x.namespace).Patch(within(t, patience), x.name, types.MergePatchType, []byte(merge), metav1.PatchOptions{})
	require.NoError(t, err)
}

// force sets spec.forcedReconcilation to a time that was not there before.
func (x *tenant) force(t *testing.T) {
	t.Helper()
	x.patch(t, fmt.Sprintf(`{"spec":{"forcedReconcilation":%q}}`, time.Now().Add(time.Duration(x.request(t).Generation)*time.Second).UTC().Format(time.RFC3339)))
}

// owner is who the claim names.
func (x *tenant) owner(t *testing.T) api.Owner {
	t.Helper()
	uid, err := x.g.Client.ClusterUID(within(t, patience))
	require.NoError(t, err)
	return api.Owner{UID: x.uid, Namespace: x.namespace, Name: x.name, Cluster: uid}
}

// What a verdict leaves on the server.

func (x *tenant) claim(t *testing.T, origin, phase, host string) additions {
	t.Helper()
	c := api.Claim{Owner: x.owner(t), Username: x.user, Host: host, Origin: origin, Phase: phase}
	return additions{"claim on " + x.database: claimed(c, "").what}
}

func (x *tenant) adopted(t *testing.T) additions {
	t.Helper()
	return x.claim(t, api.OriginAdopted, api.ClaimReady, "%")
}

func (x *tenant) newDatabase() additions {
	return additions{"database " + x.database: "utf8mb4_general_ci"}
}

func (x *tenant) newUser() additions {
	return additions{"account " + x.user + "@%": fmt.Sprintf(`{"access":0,"authentication_string":%q,"plugin":"mysql_native_password"}`, hash(x.password))}
}

func (x *tenant) newGrant() additions {
	return additions{"grant to " + x.user + "@% on " + pattern(x.database): allPrivileges}
}

func (x *tenant) created(t *testing.T) additions {
	t.Helper()
	return union(x.newDatabase(), x.newUser(), x.newGrant(), x.claim(t, api.OriginCreated, api.ClaimReady, "%"))
}

func union(all ...additions) additions {
	u := additions{}
	for _, a := range all {
		maps.Copy(u, a)
	}
	return u
}

// assertConditions checks Ready and Error to the letter.
func (x *tenant) assertConditions(t *testing.T, reason api.Reason, failed bool, says ...string) *metav1.Condition {
	t.Helper()
	r := x.request(t)
	ready := meta.FindStatusCondition(r.Status.Conditions, api.ConditionReady)
	broken := meta.FindStatusCondition(r.Status.Conditions, api.ConditionError)
	require.NotNil(t, ready)
	require.NotNil(t, broken)
	wantReady, wantError, errorReason := metav1.ConditionTrue, metav1.ConditionFalse, api.ReasonNoError
	if failed {
		wantReady, wantError, errorReason = metav1.ConditionFalse, metav1.ConditionTrue, reason
		assert.Equal(t, ready.Message, broken.Message)
	}
	require.Equal(t, string(reason), ready.Reason, "Ready: %+v", ready)
	require.Equal(t, wantReady, ready.Status, "Ready: %+v", ready)
	assert.Equal(t, wantError, broken.Status, "Error: %+v", broken)
	assert.Equal(t, string(errorReason), broken.Reason, "Error: %+v", broken)
	assert.Equal(t, r.Generation, ready.ObservedGeneration)
	assert.Equal(t, r.Generation, broken.ObservedGeneration)
	assert.Equal(t, r.Generation, r.Status.ObservedGeneration)
	assert.Len(t, r.Status.Conditions, 2)
	for _, s := range says {
		assert.Contains(t, ready.Message, s)
	}
	return ready
}

// assertFailed checks all that the cluster and Temporal show of a hard failure.
func (x *tenant) assertFailed(t *testing.T, reason api.Reason, says ...string) {
	t.Helper()
	x.settled(t)
	ready := x.assertConditions(t, reason, true, says...)
	x.assertSeedUntouched(t)
	x.assertNoOutputs(t)
	x.assertEvent(t, corev1.EventTypeWarning, reason)
	x.assertHardFailure(t, reason, ready.Message)
}

// assertReady checks all that the cluster and Temporal show of a success.
func (x *tenant) assertReady(t *testing.T, reason api.Reason, verdict api.Verdict) {
	t.Helper()
	x.settled(t)
	x.assertConditions(t, reason, false, strconv.Quote(x.database))
	r := x.request(t)
	if assert.NotNil(t, r.Status.DatabaseInfo) {
		assert.Equal(t, v1alpha1.DatabaseInfo{Username: x.user, Databasename: x.database}, *r.Status.DatabaseInfo)
	}
	if assert.NotNil(t, r.Status.ObservedDatabaseConnectionReference) {
		assert.Equal(t, x.on.Name, r.Status.ObservedDatabaseConnectionReference.Name)
	}
	x.assertOutputs(t)
	x.assertEvent(t, corev1.EventTypeNormal, reason)
	result := x.closed(t)
	if want := verdict; result.Verdict == api.VerdictKeep && x.lostTask(t) {
		t.Logf("%s: a workflow task was lost on this busy machine, and its steps were done twice: %s became %s", x.key(), want, result.Verdict)
	} else {
		assert.Equal(t, want, result.Verdict)
	}
	assert.Equal(t, x.database, result.Database)
	assert.Equal(t, x.user, result.Username)
}

// outputs are the bytes that the tenant is to find.
func (x *tenant) outputs() map[string][]byte {
	prefix := strings.ToUpper(strings.ReplaceAll(x.service, "-", "_"))
	return map[string][]byte{
		prefix + "_USERNAME": []byte(x.user),
		prefix + "_PASSWORD": []byte(x.password),
		prefix + "_DATABASE": []byte(x.database),
		prefix + "_HOST":     []byte(x.service),
		prefix + "_PORT":     []byte(strconv.Itoa(x.on.Port)),
	}
}

func (x *tenant) secret(t *testing.T, name string) *corev1.Secret {
	t.Helper()
	s, err := x.g.Client.Kube.CoreV1().Secrets(x.namespace).Get(within(t, patience), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(t, err)
	return s
}

func (x *tenant) getService(t *testing.T) *corev1.Service {
	t.Helper()
	s, err := x.g.Client.Kube.CoreV1().Services(x.namespace).Get(within(t, patience), x.service, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(t, err)
	return s
}

func (x *tenant) assertOutputs(t *testing.T) {
	t.Helper()
	owner := func(o metav1.Object) {
		if refs := o.GetOwnerReferences(); assert.Len(t, refs, 1) {
			assert.Equal(t, x.uid, string(refs[0].UID))
			assert.True(t, refs[0].Controller != nil && *refs[0].Controller)
		}
	}
	if secret := x.secret(t, x.name); assert.NotNil(t, secret, "the output Secret") {
		assert.Equal(t, x.outputs(), secret.Data)
		assert.Equal(t, map[string]string{api.LabelSecret: "true", api.LabelInstance: x.name}, secret.Labels)
		owner(secret)
	}
	if service := x.getService(t); assert.NotNil(t, service, "the Service") {
		assert.Equal(t, corev1.ServiceTypeExternalName, service.Spec.Type)
		assert.Equal(t, "localhost", service.Spec.ExternalName)
		assert.Equal(t, map[string]string{api.LabelService: "true", api.LabelInstance: x.name}, service.Labels)
		owner(service)
	}
}

func (x *tenant) assertNoOutputs(t *testing.T) {
	t.Helper()
	if secret := x.secret(t, x.name); secret != nil {
		assert.NotContains(t, secret.Labels, api.LabelSecret, "an output Secret, maybe half-written")
	}
	if service := x.getService(t); service != nil {
		assert.NotContains(t, service.Labels, api.LabelService, "a Service")
	}
}

// assertSeedUntouched: neither deleted nor written to.
func (x *tenant) assertSeedUntouched(t *testing.T) {
	t.Helper()
	if x.seed == nil {
		return
	}
	if seed := x.secret(t, x.seedName()); assert.NotNil(t, seed, "the seed Secret") {
		assert.Equal(t, x.version, seed.ResourceVersion, "the seed Secret's resourceVersion")
	}
}

func (x *tenant) assertSeedGone(t *testing.T) {
	t.Helper()
	eventually(t, func(context.Context) error {
		if x.secret(t, x.seedName()) != nil {
			return fmt.Errorf("the seed Secret of %s is still there", x.key())
		}
		return nil
	})
}

// assertEvent waits for an event, which is sent in the background.
func (x *tenant) assertEvent(t *testing.T, kind string, reason api.Reason) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		list, err := x.g.Client.Kube.CoreV1().Events(x.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, e := range list.Items {
			if e.InvolvedObject.Name == x.name && e.Type == kind && e.Reason == string(reason) {
				return nil
			}
		}
		return fmt.Errorf("no %s event %s for %s", kind, reason, x.key())
	})
}

// logsIn proves the bytes that the tenant got, with a table written and dropped.
func (x *tenant) logsIn(t *testing.T, statements ...string) {
	t.Helper()
	secret := x.secret(t, x.name)
	require.NotNil(t, secret)
	prefix := strings.ToUpper(strings.ReplaceAll(x.service, "-", "_"))
	assert.NoError(t, as(within(t, patience), x.on, string(secret.Data[prefix+"_USERNAME"]), string(secret.Data[prefix+"_PASSWORD"]),
		string(secret.Data[prefix+"_DATABASE"]), append(statements, "CREATE TABLE written (id INT PRIMARY KEY)", "DROP TABLE written")...))
}
