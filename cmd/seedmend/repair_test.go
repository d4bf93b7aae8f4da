package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
)

func TestARepairAsksAndTakesNothingButYes(t *testing.T) {
	for answer, agrees := range map[string]bool{"y\n": true, "Yes\n": true, "n\n": false, "\n": false, "": false, "yes please\n": false} {
		var out bytes.Buffer
		err := agreed(strings.NewReader(answer), &out, false, 2)
		assert.Equal(t, agrees, err == nil, "%q", answer)
		assert.Contains(t, out.String(), "Repair 2 replicas?")
	}
	assert.NoError(t, agreed(strings.NewReader(""), &bytes.Buffer{}, true, 2), "--yes does not ask")
	nobody, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer nobody.Close()
	assert.ErrorContains(t, agreed(nobody, &bytes.Buffer{}, false, 2), "--yes")
}

func TestReplicasAreNamedAsTheirWorkflows(t *testing.T) {
	g := api.Group{GroupRef: api.GroupRef{Kind: api.KindReplicationGroup, Namespace: "shop", Name: "db"}, Replicas: []api.GroupReplica{
		{Name: "r1"}, {Name: "r2", Channel: "a/b"}, {Name: "r2", Channel: "c"},
	}}
	for arg, want := range map[string]int{"": 3, "r1": 1, "r2": 2, "r2/c": 1, "r2/a%2Fb": 1, "r3": 0, "r1/c": 0} {
		var parts []string
		if arg != "" {
			parts = strings.SplitN(arg, "/", 2)
		}
		refs, err := named(g, parts)
		assert.Len(t, refs, want, arg)
		assert.Equal(t, want == 0, err != nil, arg)
	}
	g.Invalid = "no primary"
	_, err := named(g, nil)
	assert.ErrorContains(t, err, "no primary")
}

func TestAStuckReplicaThatIsNotMendedIsAHardFailure(t *testing.T) {
	stuck := &api.Channel{IOErrno: api.AuthErrno}
	assert.NoError(t, blocked([]*plan{{ReplicaExplanation: api.ReplicaExplanation{Would: true, Channel: stuck}}, {ReplicaExplanation: api.ReplicaExplanation{Channel: &api.Channel{}}}}))
	err := blocked([]*plan{{Replica: "shop/db/r1", ReplicaExplanation: api.ReplicaExplanation{Channel: stuck, Reason: api.SecretMismatch, Message: "refused"}}})
	assert.Error(t, blocked([]*plan{{ReplicaExplanation: api.ReplicaExplanation{Reason: api.ReplicaUnreachable}}}), "it could not be looked at")
	var exit *exitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, exitHard, exit.code)
	assert.True(t, strings.HasSuffix(err.Error(), "\nSecretMismatch"), "the reason is on the last line")
}
