package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/tests/lab"
	"github.com/seedmend/seedmend/tests/stage"
)

const patience = time.Minute

// namespaces of the tests: a stand in one is "db", with up to three pods.
var namespaces = []string{"annotation", "rebuild", "dropped", "withdrawn", "field", "optedout", "switching", "tls", "nameless", "unreported"}

const name = "db"

func podName(index int) string { return fmt.Sprintf("%s-%d", name, index) }

func podHost(namespace string, index int) string {
	return fmt.Sprintf("%s.%s-internal.%s.svc.cluster.local", podName(index), name, namespace)
}

func podAddress(namespace string, index int) string {
	return fmt.Sprintf("127.0.%d.%d", 40+slices.Index(namespaces, namespace), 1+index)
}

// pods are the addresses of all that there will be.
func pods() map[string]string {
	hosts := map[string]string{}
	for _, ns := range namespaces {
		for index := range 3 {
			hosts[podHost(ns, index)] = podAddress(ns, index)
		}
	}
	return hosts
}

// stand is a MariaDB with replication: pod 0 is the primary.
type stand struct {
	mirror
	namespace string
	channel   string
	servers   []*lab.MariaDB
	own       []string // the test's connection to each server
	root      string   // password
	broken    time.Time
}

// standOptions say what is not as usual.
type standOptions struct {
	replicas    int            // default 1
	nameless    bool           // the channel has no name
	tls         bool           // it is required; the last of several replicas has no certificate for its name
	silent      bool           // the status tells nothing of the replicas
	switching   bool           // the primary is being switched
	age         time.Duration  // how long an error has lasted already when it is reported first
	recovery    map[string]any // spec.replication.replica.recovery
	annotations map[string]any
}

// newStand starts the servers and makes the resource.
func newStand(t *testing.T, namespace string, o standOptions) *stand {
	t.Helper()
	require.Contains(t, namespaces, namespace)
	s := &stand{namespace: namespace, channel: "mariadb-operator", root: vault.Password()}
	if o.nameless {
		s.channel = ""
	}
	ctx := within(t, 2*patience)
	repl := vault.Password()
	for index := range max(o.replicas, 1) + 1 {
		opts := lab.MariaDBOptions{
			Name: fmt.Sprintf("%s-%d", namespace, index), Host: podAddress(namespace, index),
			RootPassword: s.root, ServerID: 10 + index, RequireTLS: o.tls,
		}
		if index < 2 {
			opts.DNSNames = []string{podHost(namespace, index)}
		}
		var m *lab.MariaDB
		var err error
		if index == 0 {
			m, err = on.Lab.StartMariaDB(ctx, opts)
		} else {
			opts.Port = s.servers[0].Port
			m, err = on.Lab.StartReplica(ctx, s.servers[0], opts, lab.ReplicationOptions{Channel: s.channel, Password: repl})
		}
		require.NoError(t, err)
		t.Cleanup(func() { _ = m.Kill() })
		m.DB().SetMaxOpenConns(1) // seedmend comes as root as well
		s.servers = append(s.servers, m)
		require.Equal(t, s.servers[0].Port, m.Port)
		require.NoError(t, m.ResetGeneralLog(ctx))
		var own string
		require.NoError(t, m.DB().QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&own))
		s.own = append(s.own, own)
	}
	s.exec(t, "CREATE DATABASE shop", "CREATE TABLE shop.t (id INT PRIMARY KEY)", "INSERT INTO shop.t VALUES (1)")

	require.NoError(t, on.Namespace(ctx, namespace))
	require.NoError(t, on.Secret(ctx, namespace, name+"-root", map[string]string{"password": s.root}))
	require.NoError(t, on.Secret(ctx, namespace, name+"-repl-password", map[string]string{"password": repl}))
	spec := map[string]any{
		"replicas": len(s.servers), "port": s.servers[0].Port,
		"replication": map[string]any{"enabled": true, "replica": map[string]any{"recovery": o.recovery}},
	}
	if o.tls {
		require.NoError(t, on.Secret(ctx, namespace, name+"-ca-bundle", map[string]string{"ca.crt": string(s.servers[0].CA)}))
		spec["tls"] = map[string]any{"enabled": true}
	}
	s.begin(t, s, o, spec)
	return s
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// exec runs statements on the primary.
func (s *stand) exec(t *testing.T, statements ...string) {
	t.Helper()
	for _, each := range statements {
		_, err := s.servers[0].DB().ExecContext(within(t, patience), each)
		require.NoError(t, err, each)
	}
}

func (s *stand) ref(pod int) api.ReplicaRef {
	return api.ReplicaRef{
		Group:   api.GroupRef{Kind: api.KindMariaDB, Namespace: s.namespace, Name: name},
		Replica: podName(pod), Channel: "mariadb-operator",
	}
}

// rotate gives the replication user another password, on the primary and in the
// Secret, so that the replicas get a true 1045.
func (s *stand) rotate(t *testing.T) {
	t.Helper()
	ctx := within(t, patience)
	password, err := s.servers[1].Break(ctx, s.servers[0], s.channel)
	require.NoError(t, err)
	vault.Add(password)
	s.broken = time.Now()
	secrets := on.Client.Kube.CoreV1().Secrets(s.namespace)
	secret, err := secrets.Get(ctx, name+"-repl-password", metav1.GetOptions{})
	require.NoError(t, err)
	secret.Data["password"] = []byte(password)
	_, err = secrets.Update(ctx, secret, metav1.UpdateOptions{})
	require.NoError(t, err)
	s.exec(t, "INSERT INTO shop.t VALUES (2), (3)")
}

// replicates waits until a replica runs and has all rows.
func (s *stand) replicates(t *testing.T, pod int) {
	t.Helper()
	require.NoError(t, stage.Eventually(within(t, patience), func() error {
		now, err := s.servers[pod].ReplicaStatus(t.Context(), s.channel)
		if err != nil {
			return err
		}
		if now["Slave_IO_Running"] != "Yes" || now["Slave_SQL_Running"] != "Yes" {
			return fmt.Errorf("%s: IO %s (%s), SQL %s", s.namespace, now["Slave_IO_Running"], now["Last_IO_Errno"], now["Slave_SQL_Running"])
		}
		var missing int
		err = s.servers[pod].DB().QueryRowContext(t.Context(), "SELECT 3 - COUNT(*) FROM shop.t").Scan(&missing)
		if err == nil && missing != 0 {
			err = fmt.Errorf("%d rows are missing", missing)
		}
		return err
	}))
}

// sent is what seedmend has sent to a server as root: the statements, and first
// of all whether it has come at all.
func (s *stand) sent(t *testing.T, pod int) (came bool, reads, others []string) {
	t.Helper()
	all, err := s.servers[pod].Statements(within(t, patience))
	require.NoError(t, err)
	for _, each := range all {
		if each.User != "root" || fmt.Sprint(each.ThreadID) == s.own[pod] {
			continue
		}
		came = true
		text := strings.ToUpper(each.Argument)
		switch {
		case each.Command == "Connect", each.Command == "Quit":
		case each.Command == "Query" && (strings.HasPrefix(text, "SELECT") || strings.HasPrefix(text, "SHOW")):
			reads = append(reads, each.Argument)
		default:
			others = append(others, each.Argument)
		}
	}
	return came, reads, others
}

// assertUntouched: seedmend has not even logged in, anywhere.
func (s *stand) assertUntouched(t *testing.T) {
	t.Helper()
	for pod := range s.servers {
		came, _, _ := s.sent(t, pod)
		require.False(t, came, podName(pod))
	}
}

// assertNothingSent: reads at most, and the Secret has not been tried.
func (s *stand) assertNothingSent(t *testing.T) {
	t.Helper()
	for pod := range s.servers {
		_, _, others := s.sent(t, pod)
		require.Empty(t, others, podName(pod))
	}
	// The replicas are refused; seedmend would be let in. Of one that is refused
	// the log tells both.
	rows, err := s.servers[0].DB().QueryContext(t.Context(), "SELECT 1 FROM mysql.general_log "+
		"WHERE command_type = 'Connect' AND user_host LIKE '%[repl]%' AND event_time > FROM_UNIXTIME(?) "+
		"GROUP BY thread_id HAVING SUM(argument LIKE 'Access denied%') = 0", s.broken.Add(time.Second).Unix())
	require.NoError(t, err)
	defer rows.Close()
	require.False(t, rows.Next(), "the Secret has been tried")
	require.NoError(t, rows.Err())
}

// assertOneRepair: one STOP, CHANGE and START, in this order.
func (s *stand) assertOneRepair(t *testing.T, pod int) {
	t.Helper()
	_, _, others := s.sent(t, pod)
	require.Len(t, others, 3, others)
	for i, verb := range []string{"STOP", "CHANGE", "START"} {
		require.True(t, strings.HasPrefix(others[i], verb), others)
	}
}

// repairedAt is when STOP reached a replica.
func (s *stand) repairedAt(t *testing.T, pod int) time.Time {
	t.Helper()
	var micros int64
	require.NoError(t, s.servers[pod].DB().QueryRowContext(t.Context(),
		"SELECT CAST(1e6 * UNIX_TIMESTAMP(MIN(event_time)) AS SIGNED) FROM mysql.general_log WHERE argument LIKE 'STOP%'").Scan(&micros))
	return time.UnixMicro(micros)
}

// events are those of the resource.
func (s *stand) events(ctx context.Context) (found []corev1.Event, err error) {
	list, err := on.Client.Kube.CoreV1().Events(s.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, e := range list.Items {
		about := e.InvolvedObject
		if about.Kind == api.KindMariaDB && about.APIVersion == "k8s.mariadb.com/v1alpha1" && about.Name == name && about.UID == s.uid {
			found = append(found, e)
		}
	}
	return found, nil
}

// told waits for an event about a pod.
func (s *stand) told(t *testing.T, pod int, kind string, reason api.Reason) (event corev1.Event) {
	t.Helper()
	ctx := within(t, patience)
	var all []string
	require.NoError(t, stage.Eventually(ctx, func() error {
		events, err := s.events(t.Context())
		if err != nil {
			return err
		}
		all = nil
		for _, event = range events {
			if event.Reason == string(reason) && strings.Contains(event.Message, podName(pod)) {
				return nil
			}
			all = append(all, event.Reason+": "+event.Message)
		}
		return fmt.Errorf("%s: no event %s about %s among %q", s.namespace, reason, podName(pod), all)
	}))
	require.Equal(t, kind, event.Type)
	return event
}

func (s *stand) assertNotTold(t *testing.T, reason api.Reason) {
	t.Helper()
	all, err := s.events(within(t, patience))
	require.NoError(t, err)
	for _, e := range all {
		require.NotEqual(t, string(reason), e.Reason, e.Message)
	}
}

// mended waits for a repair, and checks what it has left.
func (s *stand) mended(t *testing.T, pod int) {
	t.Helper()
	s.told(t, pod, corev1.EventTypeNormal, api.ReasonRepaired)
	s.assertOneRepair(t, pod)
	s.replicates(t, pod)
	result, err := s.result(t, pod)
	require.NoError(t, err)
	require.Equal(t, api.OutcomeRepaired, result.Outcome)
}

// run is the latest of a replica; there may be none.
func (s *stand) run(t *testing.T, pod int) (*client.WorkflowExecutionDescription, error) {
	t.Helper()
	return on.Workflows.DescribeWorkflow(within(t, patience), api.ReplicaWorkflowID(s.ref(pod)), "")
}

// result waits for the end of a replica's run.
func (s *stand) result(t *testing.T, pod int) (out api.MendResult, err error) {
	t.Helper()
	ctx := within(t, patience)
	err = on.Workflows.GetWorkflow(ctx, api.ReplicaWorkflowID(s.ref(pod)), "").Get(ctx, &out)
	return out, err
}
