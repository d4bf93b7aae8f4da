package k8s

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
)

func TestHealth(t *testing.T) {
	of := func(phase string, reason api.Reason, message string) api.ReplicaStatus {
		return api.ReplicaStatus{Phase: phase, Reason: reason, Message: message}
	}
	well := of(api.PhaseHealthy, api.ReasonReplicating, "")
	for sentence, test := range map[string]struct {
		invalid                 string
		entries                 []api.ReplicaStatus // of r1, r2, r3
		status, reason, message string
	}{
		"all is well":                {"", []api.ReplicaStatus{well, of(api.PhaseRepaired, api.ReasonRepaired, ""), well}, "True", "Replicating", "3 of 3 replicas replicate."},
		"one is stuck":               {"", []api.ReplicaStatus{well, of(api.PhaseStuck, api.RepairOff, "nobody asked"), well}, "False", "RepairOff", "replica r2: nobody asked"},
		"the worst is told":          {"", []api.ReplicaStatus{of(api.PhaseRepairing, api.ReasonThreshold, "soon"), of(api.PhasePaused, api.SecretMismatch, "wrong"), of(api.PhaseUnknown, api.ReplicaUnreachable, "away")}, "False", "SecretMismatch", "replica r2: wrong"},
		"the first of the worst":     {"", []api.ReplicaStatus{well, of(api.PhaseStuck, api.RepairOff, "a"), of(api.PhaseStuck, api.RepairOff, "b")}, "False", "RepairOff", "replica r2: a"},
		"only unknown":               {"", []api.ReplicaStatus{well, of(api.PhaseUnknown, api.ReplicaUnreachable, "away"), well}, "Unknown", "ReplicaUnreachable", "replica r2: away"},
		"one was never looked at":    {"", []api.ReplicaStatus{well, well}, "Unknown", "NotSeenYet", "replica r3: not looked at yet"},
		"none was":                   {"", nil, "Unknown", "NotSeenYet", "replica r1: not looked at yet"},
		"no phase is no good news":   {"", []api.ReplicaStatus{of("", "", ""), well, well}, "Unknown", "Unknown", "replica r1: Unknown"},
		"a phase from elsewhere":     {"", []api.ReplicaStatus{of(api.PhaseHandsOff, api.IOError, "2003"), of("Burning", "", ""), well}, "False", "Burning", "replica r2: Burning"},
		"a reason that is no word":   {"", []api.ReplicaStatus{of(api.PhaseStuck, "two words", "x"), well, well}, "False", "Stuck", "replica r1: x"},
		"no message":                 {"", []api.ReplicaStatus{of(api.PhaseHandsOff, api.IOError, ""), well, well}, "False", "IOError", "replica r1: IOError"},
		"an invalid group is not it": {"spec.primary.host is not set.", []api.ReplicaStatus{well, well, well}, "False", "GroupInvalid", "spec.primary.host is not set."},
	} {
		t.Run(sentence, func(t *testing.T) {
			g := api.Group{Invalid: test.invalid, Replicas: []api.GroupReplica{{Name: "r1"}, {Name: "r2"}, {Name: "r3"}}}
			for i := range test.entries {
				test.entries[i].Name = g.Replicas[i].Name
			}
			got := health(g, test.entries)
			require.Equal(t, []string{"Healthy", test.status, test.reason, test.message}, []string{got.Type, string(got.Status), got.Reason, got.Message})
		})
	}
	named := health(api.Group{Replicas: []api.GroupReplica{{Name: "r1", Channel: "c"}}}, nil)
	require.Equal(t, "replica r1 (channel c): not looked at yet", named.Message)
}
