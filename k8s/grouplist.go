package k8s

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/mendv1alpha1"
)

// GroupState is a group together with what its status says of each replica.
type GroupState struct {
	Group    api.Group
	Replicas []api.ReplicaStatus
}

// GroupStates lists the groups of one namespace, or of all for "". A kind that
// the cluster does not serve has none.
func (c *Client) GroupStates(ctx context.Context, namespace string) ([]GroupState, error) {
	var out []GroupState
	ours, err := c.ReplicationGroups(namespace).List(ctx, metav1.ListOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, call{verb: "list", resource: mendv1alpha1.ResourceReplicationGroups, namespace: namespace}.failure(err)
	}
	if err == nil {
		for i := range ours.Items {
			obj := &ours.Items[i]
			out = append(out, GroupState{GroupOf(obj), replicaStatuses(obj.Status.Replicas)})
		}
	}
	theirs, err := c.mariaDBs(namespace).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return out, nil
	}
	if err != nil {
		return nil, call{verb: "list", resource: mariaDBResource.Resource, namespace: namespace}.failure(err)
	}
	for i := range theirs.Items {
		if group, is := GroupOfMariaDB(&theirs.Items[i], c.ClusterDomain); is {
			out = append(out, GroupState{group, operated(group)})
		}
	}
	return out, nil
}

// operated is what the operator's own status says of its replicas.
func operated(g api.Group) []api.ReplicaStatus {
	var out []api.ReplicaStatus
	for _, r := range g.Replicas {
		e := api.ReplicaStatus{Name: r.Name, Channel: r.Channel, Phase: api.PhaseUnknown}
		if r.Reported != nil {
			e.IOErrno = r.Reported.IOErrno
			e.Phase, e.Reason = api.PhaseHealthy, api.ReasonReplicating
			if !r.Reported.Since.IsZero() {
				e.Since = &r.Reported.Since
			}
		}
		switch {
		case e.IOErrno == api.AuthErrno && g.OptedIn:
			e.Phase, e.Reason, e.WorkflowID = api.PhaseStuck, api.ReasonThreshold, api.ReplicaWorkflowID(g.Ref(r))
		case e.IOErrno == api.AuthErrno:
			e.Phase, e.Reason = api.PhaseStuck, api.RepairOff
		case e.IOErrno != 0:
			e.Phase, e.Reason = api.PhaseHandsOff, api.IOError
		}
		out = append(out, e)
	}
	return out
}
