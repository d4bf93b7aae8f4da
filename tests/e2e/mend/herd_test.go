package mend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/mendv1alpha1"
	"github.com/seedmend/seedmend/tests/lab"
	"github.com/seedmend/seedmend/tests/stage"
)

const (
	threshold = 4 * time.Second
	patience  = time.Minute
)

// herd is a primary with its replicas, and the ReplicationGroup that names them.
type herd struct {
	namespace string
	primary   *lab.MariaDB
	replicas  []*lab.MariaDB
	channel   string
	admin     string // password of seedmend's own user
	password  string // that the replication user began with
	group     *mendv1alpha1.ReplicationGroup
}

// herdOptions say what is not as usual.
type herdOptions struct {
	replicas  int // default 1
	channel   string
	threshold time.Duration
	args      []string // of every server
	sql       string   // added to CHANGE MASTER
	password  string   // of the replication user
	change    func(*mendv1alpha1.ReplicationGroup)
}

// newHerd starts servers of its own, with a table, and the group.
func newHerd(t *testing.T, name string, o herdOptions) *herd {
	t.Helper()
	ctx := within(t, 2*patience)
	h := &herd{namespace: name, channel: o.channel}
	if o.replicas == 0 {
		o.replicas = 1
	}
	if o.threshold == 0 {
		o.threshold = threshold
	}
	var err error
	h.primary, err = on.Lab.StartMariaDB(ctx, lab.MariaDBOptions{Name: name, ServerID: 1000 + len(name)*7, Args: o.args})
	require.NoError(t, err)
	t.Cleanup(func() { _ = h.primary.Kill() })
	h.admin = vault.Password()
	if o.password == "" {
		o.password = vault.Password()
	}
	h.password = o.password
	require.NoError(t, stage.MendingUser(ctx, h.primary, h.admin))
	h.exec(t, h.primary, "CREATE DATABASE shop", "CREATE TABLE shop.t (id INT PRIMARY KEY)", "INSERT INTO shop.t VALUES (1)")
	for i := range o.replicas {
		r, err := on.Lab.StartReplica(ctx, h.primary, lab.MariaDBOptions{Name: fmt.Sprintf("%s-r%d", name, i+1), Args: o.args},
			lab.ReplicationOptions{Channel: o.channel, SQL: o.sql, Password: o.password})
		require.NoError(t, err)
		t.Cleanup(func() { _ = r.Kill() })
		h.replicas = append(h.replicas, r)
		h.caught(t, i)
	}
	h.announce(t, o)
	return h
}

// announce makes the namespace, the Secrets and the group.
func (h *herd) announce(t *testing.T, o herdOptions) {
	t.Helper()
	ctx := within(t, patience)
	require.NoError(t, on.Namespace(ctx, h.namespace))
	require.NoError(t, on.Secret(ctx, h.namespace, "admin", map[string]string{"username": "seedmend", "password": h.admin}))
	require.NoError(t, on.Secret(ctx, h.namespace, "replication", map[string]string{"username": "repl", "password": o.password}))
	g := &mendv1alpha1.ReplicationGroup{ObjectMeta: metav1.ObjectMeta{Namespace: h.namespace, Name: "db"}}
	g.Spec.Primary = mendv1alpha1.Endpoint{Host: "127.0.0.1", Port: int32(h.primary.Port)}
	for i, r := range h.replicas {
		g.Spec.Replicas = append(g.Spec.Replicas, mendv1alpha1.Replica{Name: fmt.Sprintf("r%d", i+1), Endpoint: mendv1alpha1.Endpoint{Host: "127.0.0.1", Port: int32(r.Port)}, Channel: h.channel})
	}
	g.Spec.AdminSecretRef.Name, g.Spec.ReplicationSecretRef.Name = "admin", "replication"
	g.Spec.Recovery.ReconnectOnAuthError = true
	g.Spec.Recovery.ErrorDurationThreshold = &metav1.Duration{Duration: o.threshold}
	if o.change != nil {
		o.change(g)
	}
	var err error
	h.group, err = on.Client.ReplicationGroups(h.namespace).Create(ctx, g, metav1.CreateOptions{})
	require.NoError(t, err)
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// exec runs statements on one connection.
func (h *herd) exec(t *testing.T, m *lab.MariaDB, statements ...string) {
	t.Helper()
	ctx := within(t, patience)
	conn, err := m.DB().Conn(ctx)
	require.NoError(t, err)
	defer conn.Close()
	for _, s := range statements {
		_, err := conn.ExecContext(ctx, s)
		require.NoError(t, err, s)
	}
}

func (h *herd) ref(i int) api.ReplicaRef {
	return api.ReplicaRef{Group: api.GroupRef{Kind: api.KindReplicationGroup, Namespace: h.namespace, Name: "db"}, Replica: fmt.Sprintf("r%d", i+1), Channel: h.channel}
}

// rotate changes the password on the primary, so that the replica gets a true
// 1045; it returns when the replica reports it.
func (h *herd) rotate(t *testing.T, i int) (password string, at time.Time) {
	t.Helper()
	password, err := h.replicas[i].Break(within(t, patience), h.primary, h.channel)
	require.NoError(t, err)
	vault.Add(password)
	return password, time.Now()
}

// rotateTo is rotate with a password that is given. bare says that the servers
// take a backslash for an ordinary character.
func (h *herd) rotateTo(t *testing.T, i int, password string, bare bool) {
	t.Helper()
	literal := strings.ReplaceAll(password, "'", "''")
	if !bare {
		literal = strings.ReplaceAll(literal, `\`, `\\`)
	}
	h.exec(t, h.primary, "ALTER USER repl@'%' IDENTIFIED BY '"+literal+"'", "KILL CONNECTION USER repl@'%'")
	h.waitFor(t, i, "Last_IO_Errno", "1045")
}

// waitFor waits for a field of the replica's status.
func (h *herd) waitFor(t *testing.T, i int, field, value string) {
	t.Helper()
	require.NoError(t, stage.Eventually(within(t, patience), func() error {
		s, err := h.replicas[i].ReplicaStatus(t.Context(), h.channel)
		if err == nil && s[field] != value {
			err = fmt.Errorf("%s: %s is %s", h.namespace, field, s[field])
		}
		return err
	}))
}

// skipWait is a person's update: look now.
func (h *herd) skipWait(t *testing.T, i int) {
	t.Helper()
	handle, err := on.Workflows.UpdateWorkflow(within(t, patience), client.UpdateWorkflowOptions{
		WorkflowID: api.ReplicaWorkflowID(h.ref(i)), UpdateName: api.UpdateWait, Args: []any{api.WaitUpdate{Skip: true}},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	require.NoError(t, err)
	require.NoError(t, handle.Get(t.Context(), nil))
}

// restore gives the replication user on the primary the password that it began
// with.
func (h *herd) restore(t *testing.T) {
	t.Helper()
	_, err := h.primary.Rotate(within(t, patience), "repl", h.password)
	require.NoError(t, err)
}

func (h *herd) deleteSecret(t *testing.T) {
	t.Helper()
	require.NoError(t, on.Client.Kube.CoreV1().Secrets(h.namespace).Delete(within(t, patience), "replication", metav1.DeleteOptions{}))
}

// edit changes the group.
func (h *herd) edit(t *testing.T, change func(*mendv1alpha1.ReplicationGroup)) {
	t.Helper()
	ctx := within(t, patience)
	require.NoError(t, stage.Eventually(ctx, func() error {
		g, err := on.Client.ReplicationGroups(h.namespace).Get(ctx, "db", metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(g)
		_, err = on.Client.ReplicationGroups(h.namespace).Update(ctx, g, metav1.UpdateOptions{})
		return err
	}))
}

// histories counts the runs for this herd's replicas.
func (h *herd) histories(t *testing.T) (n int) {
	t.Helper()
	for i := range h.replicas {
		iter := on.Workflows.GetWorkflowHistory(within(t, patience), api.ReplicaWorkflowID(h.ref(i)), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		if iter.HasNext() {
			if _, err := iter.Next(); err == nil {
				n++
			}
		}
	}
	return n
}

// publish puts a password into the replication Secret.
func (h *herd) publish(t *testing.T, password string) {
	t.Helper()
	h.secret(t, map[string]string{"username": "repl", "password": password})
}

func (h *herd) secret(t *testing.T, values map[string]string) {
	t.Helper()
	ctx := within(t, patience)
	secrets := on.Client.Kube.CoreV1().Secrets(h.namespace)
	s, err := secrets.Get(ctx, "replication", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		require.NoError(t, on.Secret(ctx, h.namespace, "replication", values))
		return
	}
	require.NoError(t, err)
	s.Data = map[string][]byte{}
	for k, v := range values {
		s.Data[k] = []byte(v)
	}
	_, err = secrets.Update(ctx, s, metav1.UpdateOptions{})
	require.NoError(t, err)
}

// status is the group's entry for a replica.
func (h *herd) status(t *testing.T, i int) mendv1alpha1.ReplicaStatus {
	t.Helper()
	g, err := on.Client.ReplicationGroups(h.namespace).Get(within(t, patience), "db", metav1.GetOptions{})
	require.NoError(t, err)
	for _, e := range g.Status.Replicas {
		if e.Name == h.ref(i).Replica && e.Channel == h.channel {
			return e
		}
	}
	return mendv1alpha1.ReplicaStatus{}
}

// becomes waits until the group's status gives a reason for a replica.
func (h *herd) becomes(t *testing.T, i int, reason api.Reason) mendv1alpha1.ReplicaStatus {
	t.Helper()
	var e mendv1alpha1.ReplicaStatus
	require.NoError(t, stage.Eventually(within(t, patience), func() error {
		if e = h.status(t, i); e.Reason != string(reason) {
			return fmt.Errorf("%s: status says %+v", h.namespace, e)
		}
		return nil
	}))
	return e
}

// runs waits until both threads run and report no error.
func (h *herd) runs(t *testing.T, i int) map[string]string {
	t.Helper()
	var s map[string]string
	require.NoError(t, stage.Eventually(within(t, patience), func() (err error) {
		if s, err = h.replicas[i].ReplicaStatus(t.Context(), h.channel); err != nil {
			return err
		}
		if s["Slave_IO_Running"] != "Yes" || s["Slave_SQL_Running"] != "Yes" {
			return fmt.Errorf("%s: IO %s (%s), SQL %s", h.namespace, s["Slave_IO_Running"], s["Last_IO_Errno"], s["Slave_SQL_Running"])
		}
		return nil
	}))
	return s
}

// caught waits until a replica has as many rows as the primary.
func (h *herd) caught(t *testing.T, i int) {
	t.Helper()
	want := rows(t, h.primary)
	require.NoError(t, stage.Eventually(within(t, patience), func() error {
		if got := rows(t, h.replicas[i]); got != want {
			return fmt.Errorf("%d rows of %d", got, want)
		}
		return nil
	}))
}

func rows(t *testing.T, m *lab.MariaDB) (n int) {
	t.Helper()
	err := m.DB().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM shop.t").Scan(&n)
	var missing *mysql.MySQLError
	if errors.As(err, &missing) && (missing.Number == 1146 || missing.Number == 1049) {
		return 0 // the table has not been replicated yet
	}
	require.NoError(t, err)
	return n
}

// insert writes rows with the numbers from..to on the primary.
func (h *herd) insert(t *testing.T, from, to int) {
	t.Helper()
	for ; from <= to; from += 100 {
		var values []string
		for n := from; n < from+100 && n <= to; n++ {
			values = append(values, fmt.Sprintf("(%d)", n))
		}
		h.exec(t, h.primary, "INSERT INTO shop.t VALUES "+strings.Join(values, ","))
	}
}

// listen turns the replica's general log on.
func (h *herd) listen(t *testing.T, i int) {
	t.Helper()
	require.NoError(t, h.replicas[i].ResetGeneralLog(within(t, patience)))
}

// sent are the statements of seedmend on a replica that are no reads.
func (h *herd) sent(t *testing.T, i int) (stop, change, start int, others []string) {
	t.Helper()
	all, err := h.replicas[i].Statements(within(t, patience))
	require.NoError(t, err)
	for _, s := range all {
		text := strings.ToUpper(s.Argument)
		switch {
		case s.User != "seedmend": // the test itself, and the SQL thread
		case s.Command != "Query", strings.HasPrefix(text, "SELECT"), strings.HasPrefix(text, "SHOW"):
		case strings.HasPrefix(text, "STOP"):
			stop++
		case strings.HasPrefix(text, "CHANGE"):
			change++
		case strings.HasPrefix(text, "START"):
			start++
		default:
			others = append(others, s.Argument)
		}
	}
	return stop, change, start, others
}

// assertNothingSent: reads at most.
func (h *herd) assertNothingSent(t *testing.T, i int) {
	t.Helper()
	stop, change, start, others := h.sent(t, i)
	require.Zero(t, stop+change+start, "STOP, CHANGE, START")
	require.Empty(t, others)
}

// assertOneRepair: exactly one STOP, one CHANGE, one START.
func (h *herd) assertOneRepair(t *testing.T, i int) {
	t.Helper()
	stop, change, start, others := h.sent(t, i)
	require.Equal(t, []int{1, 1, 1}, []int{stop, change, start}, "STOP, CHANGE, START")
	require.Empty(t, others)
}

// result waits for the end of a replica's latest run.
func (h *herd) result(t *testing.T, i int) (api.MendResult, error) {
	t.Helper()
	var out api.MendResult
	err := on.Workflows.GetWorkflow(within(t, patience), api.ReplicaWorkflowID(h.ref(i)), "").Get(t.Context(), &out)
	return out, err
}
