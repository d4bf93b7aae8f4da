package k8s

import (
	"cmp"
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/mendv1alpha1"
)

// groupAttempts bounds the writes of one call. Replicas of one group share one
// status; those of this process take turns, so that only other processes and
// people are in each other's way.
const groupAttempts = 10

// UpdateReplicas changes what the status of a ReplicationGroup says of its
// replicas: change is given the present entries, and may be called again where
// somebody else wrote meanwhile. Entries of replicas that the spec does not name
// are dropped, and the condition Healthy is made of the rest. Nothing is written
// where nothing changes. ErrGone where the object is gone or is another one of
// that name. A MariaDB's status is not ours, and stays as it is.
func (c *Client) UpdateReplicas(ctx context.Context, g api.Group, change func(now []api.ReplicaStatus) []api.ReplicaStatus) error {
	if g.Kind != api.KindReplicationGroup {
		return nil
	}
	done, err := c.turn(ctx, g.Key())
	if err != nil {
		return err
	}
	defer done()
	what := call{"patch", mendv1alpha1.ResourceReplicationGroups + "/status", g.Namespace, g.Name}
	for attempt := range groupAttempts {
		live, err := c.ReplicationGroups(g.Namespace).Get(ctx, g.Name, metav1.GetOptions{})
		if err != nil {
			return call{"get", mendv1alpha1.ResourceReplicationGroups, g.Namespace, g.Name}.orGone(err)
		}
		if g.UID != "" && string(live.UID) != g.UID {
			return ErrGone
		}
		want := groupStatus(live, g.Generation, change(replicaStatuses(live.Status.Replicas)))
		if equality.Semantic.DeepEqual(want, live.Status) {
			return nil
		}
		err = c.patchGroupStatus(ctx, live, want)
		if !apierrors.IsConflict(err) {
			if err != nil {
				return what.orGone(err)
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(rand.N(10 * time.Millisecond << min(attempt, 5))):
		}
	}
	return api.Failf(api.ClusterConflict, "The group kept changing while its status was written (%s).", what)
}

// turn waits for this process's turn to write a group's status.
func (c *Client) turn(ctx context.Context, key string) (done func(), err error) {
	free, _ := c.writing.LoadOrStore(key, make(chan struct{}, 1))
	gate := free.(chan struct{})
	select {
	case gate <- struct{}{}:
		return func() { <-gate }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// groupStatus is the whole status to apply.
func groupStatus(live *mendv1alpha1.ReplicationGroup, generation int64, entries []api.ReplicaStatus) mendv1alpha1.ReplicationGroupStatus {
	out := mendv1alpha1.ReplicationGroupStatus{
		// A step that was cut may know an older spec than the status does.
		ObservedGeneration: max(live.Status.ObservedGeneration, cmp.Or(generation, live.Generation)),
		Replicas:           inSpecOrder(live.Spec.Replicas, entries),
	}
	healthy := health(GroupOf(live), replicaStatuses(out.Replicas))
	healthy.ObservedGeneration = out.ObservedGeneration
	out.Conditions = slices.Clone(live.Status.Conditions)
	meta.SetStatusCondition(&out.Conditions, healthy)
	return out
}

// inSpecOrder keeps one entry for each replica of the spec.
func inSpecOrder(spec []mendv1alpha1.Replica, entries []api.ReplicaStatus) []mendv1alpha1.ReplicaStatus {
	var out []mendv1alpha1.ReplicaStatus
	for _, replica := range spec {
		for _, e := range slices.Backward(entries) { // the last word counts
			if e.Name == replica.Name && e.Channel == replica.Channel {
				out = append(out, storedStatus(e))
				break
			}
		}
	}
	return out
}

func storedStatus(e api.ReplicaStatus) mendv1alpha1.ReplicaStatus {
	return mendv1alpha1.ReplicaStatus{
		Name: e.Name, Channel: e.Channel, IOErrno: int32(e.IOErrno), Since: stored(e.Since),
		Phase: e.Phase, Reason: string(e.Reason), Message: cut(e.Message, maxConditionMessage),
		LastRepair: stored(e.LastRepair), WorkflowID: e.WorkflowID,
	}
}

// stored is a time as the API server keeps it: in whole seconds.
func stored(t *time.Time) *metav1.Time {
	if t == nil || t.IsZero() {
		return nil
	}
	out := metav1.NewTime(t.UTC().Truncate(time.Second))
	return &out
}

func replicaStatuses(entries []mendv1alpha1.ReplicaStatus) []api.ReplicaStatus {
	var out []api.ReplicaStatus
	for _, e := range entries {
		out = append(out, api.ReplicaStatus{
			Name: e.Name, Channel: e.Channel, IOErrno: int(e.IOErrno), Since: told(e.Since),
			Phase: e.Phase, Reason: api.Reason(e.Reason), Message: e.Message,
			LastRepair: told(e.LastRepair), WorkflowID: e.WorkflowID,
		})
	}
	return out
}

func told(t *metav1.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	out := t.UTC()
	return &out
}

// patchGroupStatus writes the status of the version that was read. It is a merge
// patch, so that an entry goes although somebody else wrote to it as well.
func (c *Client) patchGroupStatus(ctx context.Context, live *mendv1alpha1.ReplicationGroup, status mendv1alpha1.ReplicationGroupStatus) error {
	data, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": live.UID, "resourceVersion": live.ResourceVersion},
		"status": map[string]any{
			"conditions":         status.Conditions,
			"observedGeneration": status.ObservedGeneration,
			"replicas":           status.Replicas,
		},
	})
	if err != nil {
		return err
	}
	_, err = c.ReplicationGroups(live.Namespace).Patch(ctx, live.Name, types.MergePatchType, data,
		metav1.PatchOptions{FieldManager: api.FieldManager}, "status")
	return err
}
