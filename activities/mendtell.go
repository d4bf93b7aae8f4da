package activities

import (
	"context"
	"errors"
	"fmt"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s"
)

// Tell writes the replica's state to the resource: a ReplicationGroup's status,
// and an event. The operator's resource is read only, and gets the event alone.
func (m *Mender) Tell(ctx context.Context, in api.TellInput) (api.Done, error) {
	defer beat(ctx)()
	g, err := m.Groups.Group(ctx, in.Replica.Group)
	if errors.Is(err, k8s.ErrGone) {
		return api.Done{Gone: true}, nil
	}
	if err != nil {
		return api.Done{}, err
	}
	err = m.Groups.UpdateReplicas(ctx, g, func(now []api.ReplicaStatus) []api.ReplicaStatus {
		return replaced(now, statusOfReplica(in, entryOf(now, in.Replica)))
	})
	if err != nil && !errors.Is(err, k8s.ErrGone) {
		return api.Done{}, err
	}
	m.Log.Info("replica", "replica", in.Replica.Key(), "phase", in.Phase, "reason", in.Reason, "message", in.Message)
	if in.Quiet {
		return api.Done{}, nil
	}
	text := message(in.Replica, in.Message)
	if in.Reason == api.ReasonRepaired {
		m.Events.GroupNormal(g, string(in.Reason), text)
		return api.Done{}, nil
	}
	if entry, ok := api.Lookup(in.Reason); ok {
		text += ". " + entry.Do
	}
	m.Events.GroupWarning(g, string(in.Reason), text)
	if in.Reason == api.ReasonThreshold && g.Rebuild > 0 && g.Rebuild <= g.Threshold {
		m.Events.GroupWarning(g, string(api.RebuildAhead), message(in.Replica, fmt.Sprintf(
			"the operator rebuilds it from a backup after %s, and seedmend mends it after %s only; set the annotation %s below the former",
			g.Rebuild, g.Threshold, api.AnnotationThreshold)))
	}
	return api.Done{}, nil
}

func entryOf(now []api.ReplicaStatus, r api.ReplicaRef) api.ReplicaStatus {
	for _, e := range now {
		if e.Name == r.Replica && e.Channel == r.Channel {
			return e
		}
	}
	return api.ReplicaStatus{Name: r.Replica, Channel: r.Channel}
}

func replaced(now []api.ReplicaStatus, entry api.ReplicaStatus) []api.ReplicaStatus {
	out := make([]api.ReplicaStatus, 0, len(now)+1)
	found := false
	for _, e := range now {
		if e.Name == entry.Name && e.Channel == entry.Channel {
			e, found = entry, true
		}
		out = append(out, e)
	}
	if !found {
		out = append(out, entry)
	}
	return out
}

func statusOfReplica(in api.TellInput, e api.ReplicaStatus) api.ReplicaStatus {
	e.Phase, e.Reason, e.Message, e.IOErrno = in.Phase, in.Reason, in.Message, in.IOErrno
	e.WorkflowID = api.ReplicaWorkflowID(in.Replica)
	e.Since = nil
	if !in.Since.IsZero() {
		e.Since = &in.Since
	}
	if !in.Repaired.IsZero() {
		e.LastRepair = &in.Repaired
	}
	return e
}
