package k8s_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
)

func condition(kind, status string, reason api.Reason) api.Condition {
	return api.Condition{Type: kind, Status: status, Reason: string(reason), Message: "because"}
}

func ready(req api.Request) api.Status {
	return api.Status{
		Conditions:         []api.Condition{condition("Ready", "True", api.ReasonCreated)},
		ObservedGeneration: req.Generation,
		Connection:         &api.ConnectionRef{Provider: "p", Connection: "primary"},
		Username:           "user",
		Database:           "base",
	}
}

func failed(req api.Request) api.Status {
	return api.Status{
		Conditions:         []api.Condition{condition("Ready", "False", api.UserConflict), condition("Error", "True", api.UserConflict)},
		ObservedGeneration: req.Generation,
	}
}

func TestStatusKeepsTheTimeOfATransition(t *testing.T) {
	c, _ := cluster(t)
	ctx := ctxFor(t)
	req := k8s.Snapshot(created(t, c, request(namespace(t, c), "times")))
	long := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	retrying := api.Status{ObservedGeneration: 1, Conditions: []api.Condition{condition("Ready", "False", api.ReasonRetrying)}}
	retrying.Conditions[0].LastTransitionTime = long
	require.NoError(t, c.ApplyStatus(ctx, req, retrying))

	retrying.Conditions[0].LastTransitionTime = time.Now()
	retrying.Conditions[0].Message = "attempt 2"
	require.NoError(t, c.ApplyStatus(ctx, req, retrying))
	now := live(t, c, req).Status
	require.Equal(t, "attempt 2", now.Conditions[0].Message)
	require.True(t, now.Conditions[0].LastTransitionTime.Equal(&metav1.Time{Time: long}), "False was False")
	require.Equal(t, int64(1), now.Conditions[0].ObservedGeneration)

	require.NoError(t, c.ApplyStatus(ctx, req, ready(req)))
	now = live(t, c, req).Status
	require.WithinDuration(t, time.Now(), now.Conditions[0].LastTransitionTime.Time, 30*time.Second, "False became True")
	require.Equal(t, &v1alpha1.DatabaseInfo{Username: "user", Databasename: "base"}, now.DatabaseInfo)
	require.Equal(t, "p", now.ObservedDatabaseConnectionReference.DatabaseObjectReference.Name)
	require.Equal(t, "RelationalDatabaseProvider", now.ObservedDatabaseConnectionReference.DatabaseObjectReference.Kind)
	require.Equal(t, "primary", now.ObservedDatabaseConnectionReference.Name)
	require.Equal(t, int64(1), now.ObservedGeneration)
	require.Equal(t, &api.ConnectionRef{Provider: "p", Connection: "primary"}, k8s.Snapshot(live(t, c, req)).Observed)

	// The same once more is no write at all.
	version := live(t, c, req).ResourceVersion
	require.NoError(t, c.ApplyStatus(ctx, req, ready(req)))
	require.Equal(t, version, live(t, c, req).ResourceVersion)
}

func TestErrorComesAndGoes(t *testing.T) {
	c, _ := cluster(t)
	ctx := ctxFor(t)
	req := k8s.Snapshot(created(t, c, request(namespace(t, c), "error")))
	require.NoError(t, c.ApplyStatus(ctx, req, ready(req)))
	require.True(t, k8s.Terminal(live(t, c, req)))
	require.NoError(t, c.ApplyStatus(ctx, req, failed(req)))
	now := live(t, c, req)
	require.True(t, k8s.Terminal(now))
	require.True(t, meta.IsStatusConditionTrue(now.Status.Conditions, "Error"))
	require.NotNil(t, now.Status.DatabaseInfo, "what is known of the database stays")
	require.NotNil(t, now.Status.ObservedDatabaseConnectionReference)
	require.NoError(t, c.ApplyStatus(ctx, req, ready(req)))
	require.Nil(t, meta.FindStatusCondition(live(t, c, req).Status.Conditions, "Error"))

	// A namespaced provider is named with its namespace.
	older := ready(req)
	older.Connection = &api.ConnectionRef{Provider: "lagoon/older", Connection: "x"}
	require.NoError(t, c.ApplyStatus(ctx, req, older))
	ref := live(t, c, req).Status.ObservedDatabaseConnectionReference.DatabaseObjectReference
	require.Equal(t, "DatabaseMySQLProvider", ref.Kind)
	require.Equal(t, "lagoon", ref.Namespace)
	require.Equal(t, "older", ref.Name)
	require.Equal(t, older.Connection, k8s.Snapshot(live(t, c, req)).Observed)
}

// The dbaas-controller wrote its conditions by whole-status updates, and would
// go on owning them.
func TestConditionsOfAFormerControllerAreTakenOver(t *testing.T) {
	c, _ := cluster(t)
	ctx := ctxFor(t)
	obj := created(t, c, request(namespace(t, c), "inherited"))
	now := metav1.Now()
	obj.Status.Conditions = []metav1.Condition{
		{Type: "Ready", Status: "False", Reason: "X", LastTransitionTime: now},
		{Type: "Error", Status: "True", Reason: "ReconcileFailed", LastTransitionTime: now},
		{Type: "Else", Status: "True", Reason: "NotOurs", LastTransitionTime: now},
	}
	obj, err := c.DatabaseRequests(obj.Namespace).UpdateStatus(ctx, obj, metav1.UpdateOptions{FieldManager: "manager"})
	require.NoError(t, err)
	req := k8s.Snapshot(obj)
	require.NoError(t, c.ApplyStatus(ctx, req, ready(req)))
	got := live(t, c, req).Status.Conditions
	require.True(t, meta.IsStatusConditionTrue(got, "Ready"))
	require.True(t, meta.IsStatusConditionFalse(got, "Error"))
	require.True(t, meta.IsStatusConditionTrue(got, "Else"))
	require.NoError(t, c.ApplyStatus(ctx, req, failed(req)))
	require.True(t, meta.IsStatusConditionTrue(live(t, c, req).Status.Conditions, "Error"))
}

func TestStatusOfAnObjectThatIsGone(t *testing.T) {
	c, _ := cluster(t)
	ctx := ctxFor(t)
	obj := created(t, c, request(namespace(t, c), "gone"))
	req := k8s.Snapshot(obj)
	require.NoError(t, c.DatabaseRequests(obj.Namespace).Delete(ctx, obj.Name, metav1.DeleteOptions{}))
	require.ErrorIs(t, c.ApplyStatus(ctx, req, ready(req)), k8s.ErrGone)
	again := created(t, c, request(obj.Namespace, "gone"))
	require.NotEqual(t, obj.UID, again.UID)
	require.ErrorIs(t, c.ApplyStatus(ctx, req, ready(req)), k8s.ErrGone)
	require.Empty(t, live(t, c, req).Status.Conditions)
	require.Equal(t, again.ResourceVersion, live(t, c, req).ResourceVersion)
}

// With an informer that is behind, or that has an object of the same name, the
// status still lands on the right object or on none.
func TestStatusBesideAWatch(t *testing.T) {
	c, _ := cluster(t)
	ctx := ctxFor(t)
	ns := namespace(t, c)
	var calls atomic.Int64
	w := runWatch(t, c, k8s.WatchOptions{OnRequest: func(*v1alpha1.DatabaseRequest, bool) { calls.Add(1) }})
	soon(t, 10*time.Second, "synced", w.Synced)
	obj := created(t, c, request(ns, "watched"))
	req := k8s.Snapshot(obj)
	for i := range 10 {
		_, err := c.DatabaseRequests(ns).Patch(ctx, obj.Name, types.MergePatchType, []byte(`{"metadata":{"labels":{"i":"`+string(rune('a'+i))+`"}}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		st := failed(req)
		if i%2 == 0 {
			st = ready(req)
		}
		require.NoError(t, c.ApplyStatus(ctx, req, st))
		require.Equal(t, i%2 == 0, meta.IsStatusConditionTrue(live(t, c, req).Status.Conditions, "Ready"))
	}
	require.NoError(t, c.DatabaseRequests(ns).Delete(ctx, obj.Name, metav1.DeleteOptions{}))
	again := created(t, c, request(ns, "watched"))
	require.ErrorIs(t, c.ApplyStatus(ctx, req, ready(req)), k8s.ErrGone)
	require.Empty(t, live(t, c, k8s.Snapshot(again)).Status.Conditions)
}

func TestALateStatusDoesNotReplaceANewerOne(t *testing.T) {
	c, _ := cluster(t)
	ctx := ctxFor(t)
	obj := created(t, c, request(namespace(t, c), "late"))
	before := k8s.Snapshot(obj)
	obj.Spec.Seed = &v1alpha1.SecretReference{Name: "s"}
	obj, err := c.DatabaseRequests(obj.Namespace).Update(ctx, obj, metav1.UpdateOptions{})
	require.NoError(t, err)
	after := k8s.Snapshot(obj)
	require.NoError(t, c.ApplyStatus(ctx, before, failed(before)), "the generation is not observed yet")
	require.False(t, k8s.Terminal(live(t, c, after)))
	require.NoError(t, c.ApplyStatus(ctx, after, ready(after)))
	require.NoError(t, c.ApplyStatus(ctx, before, failed(before)))
	require.True(t, meta.IsStatusConditionTrue(live(t, c, after).Status.Conditions, "Ready"))
}
