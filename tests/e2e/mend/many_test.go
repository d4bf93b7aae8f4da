package mend

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	workflowservice "go.temporal.io/api/workflowservice/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/mendv1alpha1"
	"github.com/seedmend/seedmend/tests/stage"
)

// slower is what the race detector costs.
func slower(d time.Duration) time.Duration {
	if raceEnabled {
		return 3 * d
	}
	return d
}

// Fifty channels of one replica, broken by one change of a password.
func TestFiftyStuckChannels(t *testing.T) {
	const channels = 50
	h := newHerd(t, "fifty", herdOptions{replicas: 1, args: []string{"--gtid-ignore-duplicates=ON", "--max-connections=300"}, threshold: manyThreshold})
	h.exec(t, h.replicas[0], "STOP SLAVE", "RESET SLAVE ALL") // the unnamed one
	for i := range channels {
		h.exec(t, h.replicas[0], fmt.Sprintf("CHANGE MASTER '%s' TO MASTER_HOST='127.0.0.1', MASTER_PORT=%d, MASTER_USER='repl', MASTER_PASSWORD='%s', "+
			"MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1", channelName(i), relabel(t, h.primary.Addr(), uint32(50_000+i)), h.password),
			fmt.Sprintf("START SLAVE '%s'", channelName(i)))
	}
	for i := range channels {
		h.channel = channelName(i)
		h.runs(t, 0)
	}
	h.edit(t, func(g *mendv1alpha1.ReplicationGroup) {
		g.Spec.Replicas = g.Spec.Replicas[:0]
		for i := range channels {
			g.Spec.Replicas = append(g.Spec.Replicas, mendv1alpha1.Replica{
				Name: "r1", Channel: channelName(i), Endpoint: mendv1alpha1.Endpoint{Host: "127.0.0.1", Port: int32(h.replicas[0].Port)},
			})
		}
	})
	h.becomes(t, 0, api.ReasonReplicating)
	password, _ := h.rotate(t, 0)
	h.publish(t, password)
	h.allStuck(t, channels)
	var last time.Time
	repaired := map[string]bool{}
	require.NoError(t, stage.Eventually(within(t, 2*patience), func() error {
		g, err := on.Client.ReplicationGroups(h.namespace).Get(t.Context(), "db", metav1.GetOptions{})
		if err != nil {
			return err
		}
		var left []string
		for _, e := range g.Status.Replicas {
			if e.LastRepair == nil {
				left = append(left, fmt.Sprintf("%s: %s %s %s", e.Channel, e.Phase, e.Reason, e.Message))
			}
			if e.LastRepair != nil {
				repaired[e.Channel] = true
			} else if e.Since != nil && e.Since.After(last) {
				last = e.Since.Time
			}
		}
		if len(repaired) < channels {
			return fmt.Errorf("%d of %d are mended; not %q", len(repaired), channels, left)
		}
		return nil
	}))
	took := time.Since(last.Add(manyThreshold))
	t.Logf("fifty channels were mended within %s of their thresholds", took.Round(10*time.Millisecond))
	assert.Less(t, took, slower(10*time.Second))
	for i := range channels {
		h.channel = channelName(i)
		h.runs(t, 0)
	}
}

// manyThreshold leaves time for all of them to break.
const manyThreshold = 15 * time.Second

// allStuck waits until every channel reports 1045. A connection that was being
// made when the password changed is ended once more.
func (h *herd) allStuck(t *testing.T, channels int) {
	t.Helper()
	require.NoError(t, stage.Eventually(within(t, manyThreshold-2*time.Second), func() error {
		for i := range channels {
			s, err := h.replicas[0].ReplicaStatus(t.Context(), channelName(i))
			if err != nil {
				return err
			}
			if s["Last_IO_Errno"] != "1045" {
				h.exec(t, h.primary, "KILL CONNECTION USER repl@'%'")
				return fmt.Errorf("channel %d: IO %s, error %s", i, s["Slave_IO_Running"], s["Last_IO_Errno"])
			}
		}
		return nil
	}))
}

func channelName(i int) string { return fmt.Sprintf("c%02d", i) }

// A single replica, ten times.
func TestHowSoonAfterItsThreshold(t *testing.T) {
	h := newHerd(t, "soon", herdOptions{threshold: time.Second})
	h.becomes(t, 0, api.ReasonReplicating)
	var took []time.Duration
	for range 10 {
		h.listen(t, 0)
		password, _ := h.rotate(t, 0)
		h.publish(t, password)
		h.becomes(t, 0, api.ReasonRepaired)
		took = append(took, h.late(t, 0, time.Second))
		h.becomes(t, 0, api.ReasonReplicating)
	}
	slices.Sort(took)
	t.Logf("mended after the threshold by: median %s, longest %s", took[5].Round(time.Millisecond), took[9].Round(time.Millisecond))
	assert.Less(t, took[5], slower(2*time.Second))
}

// late is how long after its threshold the latest run of a replica ended.
func (h *herd) late(t *testing.T, i int, threshold time.Duration) time.Duration {
	t.Helper()
	var result api.MendResult
	run := on.Workflows.GetWorkflow(within(t, patience), api.ReplicaWorkflowID(h.ref(i)), "")
	require.NoError(t, run.Get(t.Context(), &result))
	d, err := on.Workflows.DescribeWorkflow(t.Context(), api.ReplicaWorkflowID(h.ref(i)), "")
	require.NoError(t, err)
	require.NotNil(t, d.WorkflowCloseTime)
	return d.WorkflowCloseTime.Sub(d.WorkflowStartTime) - threshold
}

// Two hundred healthy replicas cost one status query each a sweep, and no run;
// three that hang hold up nobody.
func TestTwoHundredHealthyReplicasAndThreeThatHang(t *testing.T) {
	const healthy = 197
	h := newHerd(t, "crowd", herdOptions{args: []string{"--bind-address=*", "--max-connections=400"}})
	h.becomes(t, 0, api.ReasonReplicating)
	h.edit(t, func(g *mendv1alpha1.ReplicationGroup) {
		for i := range healthy {
			g.Spec.Replicas = append(g.Spec.Replicas, mendv1alpha1.Replica{
				Name: fmt.Sprintf("n%d", i), Endpoint: mendv1alpha1.Endpoint{Host: fmt.Sprintf("127.0.1.%d", i+1), Port: int32(h.replicas[0].Port)},
			})
		}
		for i := range 3 {
			g.Spec.Replicas = append(g.Spec.Replicas, mendv1alpha1.Replica{
				Name: fmt.Sprintf("hangs%d", i), Endpoint: mendv1alpha1.Endpoint{Host: "127.0.0.1", Port: silent(t)},
			})
		}
	})
	sweeps := h.sweeps(t, 3)
	for _, s := range sweeps {
		assert.Less(t, s, 20*time.Second, "a sweep's own timeout is 25 s")
	}
	t.Logf("sweeps of 201 replicas, three of which hang, took %v", sweeps)
	e := h.becomes(t, 0, api.ReasonReplicating)
	assert.Empty(t, e.WorkflowID)

	// Without those that hang: how much a sweep asks.
	h.edit(t, func(g *mendv1alpha1.ReplicationGroup) { g.Spec.Replicas = g.Spec.Replicas[:healthy+1] })
	h.sweeps(t, 2)
	h.listen(t, 0)
	began := time.Now()
	sweeps = h.sweeps(t, 3)
	all, err := h.replicas[0].Statements(within(t, patience))
	require.NoError(t, err)
	asked := 0
	for _, s := range all {
		if s.User != "seedmend" || s.Command != "Query" {
			continue
		}
		require.Equal(t, "SHOW ALL SLAVES STATUS", strings.ToUpper(s.Argument))
		asked++
	}
	t.Logf("%d status queries in %s of sweeps, which took %v", asked, time.Since(began).Round(time.Millisecond), sweeps)
	perSweep := float64(asked) / float64(healthy+1)
	assert.InDelta(t, 4, perSweep, 2.1, "one query a replica a sweep")
	for i := range healthy {
		assert.Zero(t, h.runsOf(t, fmt.Sprintf("replica:crowd/db/n%d", i)))
	}
}

// silent is a port that accepts and says nothing.
func silent(t *testing.T) int32 {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		var kept []net.Conn
		for {
			c, err := l.Accept()
			if err != nil {
				for _, c := range kept {
					c.Close()
				}
				return
			}
			kept = append(kept, c)
		}
	}()
	return int32(l.Addr().(*net.TCPAddr).Port)
}

// sweeps waits for n more sweeps, and returns how long each took.
func (h *herd) sweeps(t *testing.T, n int) (took []time.Duration) {
	t.Helper()
	since := time.Now()
	require.NoError(t, stage.Eventually(within(t, 3*patience), func() error {
		list, err := on.Workflows.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			Query: fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Completed' AND StartTime > '%s'", api.WorkflowSweepReplicas, since.UTC().Format(time.RFC3339Nano)),
		})
		if err != nil {
			return err
		}
		took = took[:0]
		for _, e := range list.GetExecutions() {
			took = append(took, e.GetCloseTime().AsTime().Sub(e.GetStartTime().AsTime()).Round(time.Millisecond))
		}
		if len(took) < n {
			return fmt.Errorf("%d of %d sweeps", len(took), n)
		}
		return nil
	}))
	return took
}

func (h *herd) runsOf(t *testing.T, id string) int {
	t.Helper()
	list, err := on.Workflows.CountWorkflow(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{Query: fmt.Sprintf("WorkflowId = '%s'", id)})
	require.NoError(t, err)
	return int(list.GetCount())
}
