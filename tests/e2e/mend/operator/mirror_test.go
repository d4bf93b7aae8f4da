package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/seedmend/seedmend/tests/operator"
	"github.com/seedmend/seedmend/tests/stage"
)

// theirManager owns what the operator would write.
const theirManager = "mariadb-operator"

// mirror stands in for the operator: it makes the resource, and keeps what its
// status says of the replicas as the replicas have it.
type mirror struct {
	objects dynamic.ResourceInterface
	uid     types.UID
	age     time.Duration
	end     func()

	mu      sync.Mutex
	version string // of the object, as it was last written here
	reports map[string]report
}

// report is what the status says of a pod.
type report struct {
	Errno      int    `json:"lastIOErrno"`
	Error      string `json:"lastIOError"`
	IO         bool   `json:"slaveIORunning"`
	SQL        bool   `json:"slaveSQLRunning"`
	Received   string `json:"gtidIOPos"`
	Transition string `json:"lastErrorTransitionTime"` // of the code; in whole seconds
	since      time.Time
}

// begin makes the resource and goes on until the test ends, or end is called.
func (m *mirror) begin(t *testing.T, s *stand, o standOptions, spec map[string]any) {
	t.Helper()
	client, err := dynamic.NewForConfig(on.Kube.Config)
	require.NoError(t, err)
	m.objects, m.age, m.reports = client.Resource(operator.Resource).Namespace(s.namespace), o.age, map[string]report{}
	whole, err := json.Marshal(map[string]any{
		"apiVersion": "k8s.mariadb.com/v1alpha1", "kind": "MariaDB",
		"metadata": map[string]any{"name": name, "annotations": o.annotations}, "spec": spec,
	})
	require.NoError(t, err)
	obj := &unstructured.Unstructured{}
	require.NoError(t, obj.UnmarshalJSON(whole))
	ctx := within(t, patience)
	obj, err = m.objects.Create(ctx, obj, metav1.CreateOptions{FieldManager: "kubectl"})
	require.NoError(t, err)
	m.uid = obj.GetUID()
	roles := map[string]string{}
	for pod := range s.servers {
		roles[podName(pod)] = "Replica"
	}
	roles[podName(0)] = "Primary"
	require.NoError(t, m.status(ctx, map[string]any{"currentPrimaryPodIndex": 0, "replication": map[string]any{"roles": roles}}))
	m.switched(t, !o.switching)

	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for pod := 1; !o.silent && ctx.Err() == nil; pod = pod%(len(s.servers)-1) + 1 {
			// What fails is tried again.
			_ = m.look(ctx, s, pod)
			time.Sleep(50 * time.Millisecond)
		}
	}()
	m.end = func() { cancel(); <-done }
	t.Cleanup(func() {
		m.end()
		_ = m.objects.Delete(context.Background(), name, metav1.DeleteOptions{})
	})
}

// look writes what is new of a pod.
func (m *mirror) look(ctx context.Context, s *stand, pod int) error {
	row, err := s.servers[pod].ReplicaStatus(ctx, s.channel)
	if err != nil {
		return err
	}
	now := report{Error: row["Last_IO_Error"], IO: row["Slave_IO_Running"] == "Yes", SQL: row["Slave_SQL_Running"] == "Yes", Received: row["Gtid_IO_Pos"]}
	if now.Errno, err = strconv.Atoi(row["Last_IO_Errno"]); err != nil {
		return err
	}
	before, known := m.reported(podName(pod))
	if now.since = before.since; !known || before.Errno != now.Errno {
		now.since = time.Now().Add(-m.age).Truncate(time.Second)
	}
	now.Transition = now.since.UTC().Format(time.RFC3339)
	if known && now == before {
		return nil
	}
	if err := m.status(ctx, map[string]any{"replication": map[string]any{"replicas": map[string]report{podName(pod): now}}}); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reports[podName(pod)] = now
	return nil
}

func (m *mirror) reported(pod string) (report, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, known := m.reports[pod]
	return r, known
}

// reports1045 waits until the status does, and tells since when.
func (m *mirror) reports1045(t *testing.T, pod int) (since time.Time) {
	t.Helper()
	m.await(t, pod, 1045)
	r, _ := m.reported(podName(pod))
	return r.since
}

// await waits until the status has a code.
func (m *mirror) await(t *testing.T, pod, errno int) {
	t.Helper()
	require.NoError(t, stage.Eventually(within(t, patience), func() error {
		if r, known := m.reported(podName(pod)); !known || r.Errno != errno {
			return fmt.Errorf("the status says %+v", r)
		}
		return nil
	}))
}

// switched sets the condition PrimarySwitched.
func (m *mirror) switched(t *testing.T, is bool) {
	t.Helper()
	condition := map[string]any{"type": "PrimarySwitched", "status": "True", "reason": "SwitchPrimary", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}
	if !is {
		condition["status"] = "False"
	}
	require.NoError(t, m.status(within(t, patience), map[string]any{"conditions": []any{condition}}))
}

// annotate sets an annotation; nil takes it away.
func (m *mirror) annotate(t *testing.T, key string, value any) {
	t.Helper()
	require.NoError(t, m.patch(within(t, patience), "kubectl", map[string]any{"metadata": map[string]any{"annotations": map[string]any{key: value}}}))
}

func (m *mirror) status(ctx context.Context, change map[string]any) error {
	return m.patch(ctx, theirManager, map[string]any{"status": change}, "status")
}

// patch is how everything here is written, so that the version is known.
func (m *mirror) patch(ctx context.Context, manager string, change map[string]any, subresources ...string) error {
	data, err := json.Marshal(change)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	obj, err := m.objects.Patch(ctx, name, types.MergePatchType, data, metav1.PatchOptions{FieldManager: manager}, subresources...)
	if err == nil {
		m.version = obj.GetResourceVersion()
	}
	return err
}

// assertOursAlone ends the mirror, and checks that nobody else has written.
func (m *mirror) assertOursAlone(t *testing.T) {
	t.Helper()
	m.end()
	obj, err := m.objects.Get(within(t, patience), name, metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, m.version, obj.GetResourceVersion())
	for _, f := range obj.GetManagedFields() {
		require.Contains(t, []string{theirManager, "kubectl"}, f.Manager)
	}
}
