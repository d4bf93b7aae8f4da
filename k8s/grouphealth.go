package k8s

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
)

// badness orders phases, the worst first: those that wait for a person, those
// that wait for a cause to go or for their time, those that are being seen to.
var badness = []string{
	api.PhaseHandsOff, api.PhaseStuck, api.PhasePaused, api.PhaseThreshold,
	api.PhaseDraining, api.PhaseProving, api.PhaseRepairing, api.PhaseUnknown,
}

// health is the condition Healthy of a group: True where every replica needs
// nothing, else what the one says that is worst off. A replica of which nothing
// is known is never taken for healthy.
func health(group api.Group, entries []api.ReplicaStatus) metav1.Condition {
	if group.Invalid != "" {
		return healthy(metav1.ConditionFalse, string(api.GroupInvalid), group.Invalid)
	}
	var worst *api.ReplicaStatus
	for _, r := range group.Replicas {
		entry := entryOf(r, entries)
		if entry.Phase == api.PhaseHealthy || entry.Phase == api.PhaseRepaired {
			continue
		}
		if worst == nil || rank(entry) < rank(*worst) {
			worst = &entry
		}
	}
	if worst == nil {
		return healthy(metav1.ConditionTrue, string(api.ReasonReplicating), fmt.Sprintf("%d of %d replicas replicate.", len(group.Replicas), len(group.Replicas)))
	}
	status := metav1.ConditionFalse
	if worst.Phase == api.PhaseUnknown {
		status = metav1.ConditionUnknown
	}
	who := "replica " + worst.Name
	if worst.Channel != "" {
		who += fmt.Sprintf(" (channel %s)", worst.Channel)
	}
	return healthy(status, conditionReason(*worst), who+": "+cmp.Or(worst.Message, string(worst.Reason), worst.Phase))
}

func healthy(status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: api.ConditionHealthy, Status: status, Reason: reason, Message: cut(message, maxConditionMessage)}
}

func entryOf(r api.GroupReplica, entries []api.ReplicaStatus) api.ReplicaStatus {
	for _, e := range entries {
		if e.Name == r.Name && e.Channel == r.Channel {
			e.Phase = cmp.Or(e.Phase, api.PhaseUnknown)
			return e
		}
	}
	return api.ReplicaStatus{
		Name: r.Name, Channel: r.Channel,
		Phase: api.PhaseUnknown, Reason: api.ReasonNotSeen, Message: "not looked at yet",
	}
}

// rank is a phase's place; one that is not known here is worse than all.
func rank(e api.ReplicaStatus) int { return slices.Index(badness, e.Phase) }

// aReason is what the API server takes for a condition's reason.
var aReason = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

// conditionReason is the entry's reason; somebody may have edited the status.
func conditionReason(e api.ReplicaStatus) string {
	for _, word := range []string{string(e.Reason), e.Phase} {
		if aReason.MatchString(word) {
			return word
		}
	}
	return api.PhaseUnknown
}
