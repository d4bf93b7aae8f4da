package k8s_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s"
	"github.com/seedmend/seedmend/k8s/mendv1alpha1"
)

func createdGroup(t *testing.T, c *k8s.Client, obj *mendv1alpha1.ReplicationGroup) *mendv1alpha1.ReplicationGroup {
	t.Helper()
	out, err := c.ReplicationGroups(obj.Namespace).Create(ctxFor(t), obj, metav1.CreateOptions{})
	require.NoError(t, err)
	return out
}

func liveGroup(t *testing.T, c *k8s.Client, g api.Group) *mendv1alpha1.ReplicationGroup {
	t.Helper()
	out, err := c.ReplicationGroups(g.Namespace).Get(ctxFor(t), g.Name, metav1.GetOptions{})
	require.NoError(t, err)
	return out
}

// entries says the same of some replicas, and leaves the others as they are.
func entries(with api.ReplicaStatus, names ...string) func([]api.ReplicaStatus) []api.ReplicaStatus {
	return func(now []api.ReplicaStatus) []api.ReplicaStatus {
		for _, name := range names {
			entry := with
			entry.Name, entry.Channel, _ = strings.Cut(name, "/")
			now = append(now, entry)
		}
		return now
	}
}

var (
	well  = api.ReplicaStatus{Phase: api.PhaseHealthy, Reason: api.ReasonReplicating}
	stuck = api.ReplicaStatus{IOErrno: 1045, Phase: api.PhaseStuck, Reason: api.RepairOff, Message: "stuck"}
)

func TestUpdateReplicas(t *testing.T) {
	c, _ := cluster(t)
	ctx := ctxFor(t)
	g := k8s.GroupOf(createdGroup(t, c, group(namespace(t, c), "told")))
	healthy := func() *metav1.Condition {
		return meta.FindStatusCondition(liveGroup(t, c, g).Status.Conditions, "Healthy")
	}

	now := time.Now()
	bad := stuck
	bad.Since, bad.LastRepair, bad.WorkflowID = &now, &now, "replica:x"
	require.NoError(t, c.UpdateReplicas(ctx, g, entries(bad, "r1", "gone")))
	first := liveGroup(t, c, g)
	require.Equal(t, int64(1), first.Generation, "the spec is never written")
	require.Equal(t, int64(1), first.Status.ObservedGeneration)
	require.Len(t, first.Status.Replicas, 1, "none that the spec does not name")
	second := now.Truncate(time.Second)
	require.Equal(t, "replica:x", first.Status.Replicas[0].WorkflowID)
	require.True(t, first.Status.Replicas[0].Since.Equal(&metav1.Time{Time: second}))
	require.Equal(t, metav1.ConditionFalse, healthy().Status)
	require.Equal(t, "RepairOff", healthy().Reason)
	require.Equal(t, "replica r1: stuck", healthy().Message)
	require.Equal(t, int64(1), healthy().ObservedGeneration)

	read, err := c.Group(ctx, g.GroupRef)
	require.NoError(t, err)
	require.Equal(t, &api.Reported{IOErrno: 1045, Since: second.UTC(), Reason: api.RepairOff}, read.Replicas[0].Reported)
	require.Nil(t, read.Replicas[1].Reported)

	// The same again, in times that are stored as the same: no write.
	require.NoError(t, c.UpdateReplicas(ctx, g, entries(bad, "r1")))
	require.NoError(t, c.UpdateReplicas(ctx, g, func(now []api.ReplicaStatus) []api.ReplicaStatus { return now }))
	require.Equal(t, first.ResourceVersion, liveGroup(t, c, g).ResourceVersion)

	// A condition keeps its time while its status is the same, and others are left alone.
	long := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
	first.Status.Conditions[0].LastTransitionTime = long
	first.Status.Conditions = append(first.Status.Conditions, metav1.Condition{Type: "Theirs", Status: "True", Reason: "Said", LastTransitionTime: long})
	_, err = c.ReplicationGroups(g.Namespace).UpdateStatus(ctx, first, metav1.UpdateOptions{})
	require.NoError(t, err)
	worse := stuck
	worse.Message = "still"
	require.NoError(t, c.UpdateReplicas(ctx, g, entries(worse, "r1")))
	require.Equal(t, "replica r1: still", healthy().Message)
	require.True(t, healthy().LastTransitionTime.Equal(&long))
	require.NoError(t, c.UpdateReplicas(ctx, g, entries(well, "r1")))
	require.Equal(t, metav1.ConditionUnknown, healthy().Status, "r2 was not looked at")
	require.NoError(t, c.UpdateReplicas(ctx, g, entries(well, "r2/from-db-0")))
	require.Equal(t, metav1.ConditionTrue, healthy().Status)
	require.Equal(t, "Replicating", healthy().Reason)
	require.False(t, healthy().LastTransitionTime.Equal(&long))
	require.True(t, meta.IsStatusConditionTrue(liveGroup(t, c, g).Status.Conditions, "Theirs"))

	// A replica that leaves the spec leaves the status, and so does the last one.
	patch := []byte(`{"spec": {"replicas": [{"name": "r3", "host": "db-3.example.com"}]}}`)
	_, err = c.ReplicationGroups(g.Namespace).Patch(ctx, g.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	require.NoError(t, err)
	require.NoError(t, c.UpdateReplicas(ctx, g, entries(well, "r1")))
	require.Empty(t, liveGroup(t, c, g).Status.Replicas)
	require.Equal(t, int64(1), healthy().ObservedGeneration, "the caller knows the older spec")
	g, err = c.Group(ctx, g.GroupRef)
	require.NoError(t, err)
	require.NoError(t, c.UpdateReplicas(ctx, g, entries(well, "r3")))
	require.Equal(t, int64(2), healthy().ObservedGeneration)
}

// Fifty replicas are told of at once, by two processes, and nothing is lost.
func TestUpdatesAtOnceLoseNothing(t *testing.T) {
	one, kube := cluster(t)
	ctx := ctxFor(t)
	const replicas = 50
	g := k8s.GroupOf(createdGroup(t, one, group(namespace(t, one), "busy", func(g *mendv1alpha1.ReplicationGroup) {
		g.Spec.Replicas = nil
		for i := range replicas {
			g.Spec.Replicas = append(g.Spec.Replicas, mendv1alpha1.Replica{Name: fmt.Sprintf("r%d", i), Endpoint: mendv1alpha1.Endpoint{Host: fmt.Sprintf("db-%d", i+1)}})
		}
	})))
	two := client(t, kube)
	var all sync.WaitGroup
	errs := make(chan error, replicas)
	for i, r := range g.Replicas {
		c := []*k8s.Client{one, two}[i%2]
		all.Go(func() { errs <- c.UpdateReplicas(ctx, g, entries(well, r.Name)) })
	}
	all.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	now := liveGroup(t, one, g)
	require.Len(t, now.Status.Replicas, replicas)
	require.Equal(t, "r0", now.Status.Replicas[0].Name, "in the spec's order")
	require.True(t, meta.IsStatusConditionTrue(now.Status.Conditions, "Healthy"))
}

// Somebody who always writes first is not waited for without end.
func TestAGroupThatKeepsChanging(t *testing.T) {
	c, _ := cluster(t)
	ctx := ctxFor(t)
	g := k8s.GroupOf(createdGroup(t, c, group(namespace(t, c), "restless")))
	tries := 0
	err := c.UpdateReplicas(ctx, g, func(now []api.ReplicaStatus) []api.ReplicaStatus {
		tries++
		patch := fmt.Appendf(nil, `{"metadata": {"annotations": {"try": "%d"}}}`, tries)
		_, err := c.ReplicationGroups(g.Namespace).Patch(ctx, g.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		require.NoError(t, err)
		return entries(well, "r1")(now)
	})
	require.Equal(t, api.ClusterConflict, failureOf(t, err).Reason)
	require.Equal(t, 10, tries)

	ended, cancel := context.WithCancel(ctx)
	cancel()
	require.ErrorIs(t, c.UpdateReplicas(ended, g, entries(well, "r1")), context.Canceled)
}

func TestGroupsThatAreGone(t *testing.T) {
	c, _ := cluster(t)
	ctx := ctxFor(t)
	obj := createdGroup(t, c, group(namespace(t, c), "gone"))
	g := k8s.GroupOf(obj)
	other := g
	other.UID = "another"
	require.ErrorIs(t, c.UpdateReplicas(ctx, other, entries(well, "r1")), k8s.ErrGone)
	require.NoError(t, c.ReplicationGroups(g.Namespace).Delete(ctx, g.Name, metav1.DeleteOptions{}))
	require.ErrorIs(t, c.UpdateReplicas(ctx, g, entries(well, "r1")), k8s.ErrGone)
	_, err := c.Group(ctx, g.GroupRef)
	require.ErrorIs(t, err, k8s.ErrGone)
	_, err = c.Group(ctx, api.GroupRef{Kind: "Pod", Namespace: g.Namespace, Name: "x"})
	require.ErrorIs(t, err, k8s.ErrGone)

	theirs := g
	theirs.Kind = api.KindMariaDB
	require.NoError(t, c.UpdateReplicas(ctx, theirs, func([]api.ReplicaStatus) []api.ReplicaStatus {
		t.Error("a MariaDB's status is not ours")
		return nil
	}))
}

func TestEventsOfGroups(t *testing.T) {
	c, _ := cluster(t)
	ctx := ctxFor(t)
	g := k8s.GroupOf(createdGroup(t, c, group(namespace(t, c), "told")))
	theirs := api.Group{GroupRef: api.GroupRef{Kind: api.KindMariaDB, Namespace: g.Namespace, Name: "shop"}, UID: "u"}
	e := k8s.NewEvents(c)
	e.GroupNormal(g, "Repaired", "r1 replicates")
	e.GroupWarning(theirs, "SecretMismatch", "shop-1 is stuck")
	e.Shutdown(ctx)

	list, err := c.Kube.CoreV1().Events(g.Namespace).List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	var said []string
	for _, event := range list.Items {
		about := event.InvolvedObject
		said = append(said, strings.Join([]string{event.Type, event.Reason, event.Message, about.APIVersion, about.Kind, about.Name, string(about.UID)}, " | "))
	}
	require.ElementsMatch(t, []string{
		"Normal | Repaired | r1 replicates | seedmend.dev/v1alpha1 | ReplicationGroup | told | " + g.UID,
		"Warning | SecretMismatch | shop-1 is stuck | k8s.mariadb.com/v1alpha1 | MariaDB | shop | u",
	}, said)
}
