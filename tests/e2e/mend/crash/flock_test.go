package crash

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/mendv1alpha1"
	"github.com/seedmend/seedmend/tests/lab"
	"github.com/seedmend/seedmend/tests/stage"
)

// serverIDs keep servers and channels apart, over all tests.
var serverIDs atomic.Uint32

func serverID() uint32 { return 5000 + serverIDs.Add(1) }

// flock is a primary and one replica that follows it on several channels, each
// of which is mended by itself: many cases at once, on two servers.
type flock struct {
	namespace string
	primary   *lab.MariaDB
	replica   *lab.MariaDB
	channels  []string
	admin     string // password of seedmend's own user
	password  string // that the channels have at first
	writing   func()
}

// newFlock starts the servers, and a writer on the primary.
func newFlock(t *testing.T, name string, channels ...string) *flock {
	t.Helper()
	ctx := within(t, 2*patience)
	f := &flock{namespace: name, channels: channels, admin: rand.Text(), password: rand.Text()}
	quick := []string{"--sync-frm=0", "--innodb-flush-log-at-trx-commit=2", "--innodb-doublewrite=0"}
	starting, startCtx := errgroup.WithContext(ctx)
	start := func(into **lab.MariaDB, name string, args ...string) {
		starting.Go(func() (err error) {
			*into, err = on.Lab.StartMariaDB(startCtx, lab.MariaDBOptions{Name: name, ServerID: int(serverID()), Args: append(args, quick...)})
			return err
		})
	}
	start(&f.primary, name)
	// One event reaches the replica on each channel, and counts once.
	start(&f.replica, name+"-r", "--read-only=ON", "--gtid-ignore-duplicates=ON")
	t.Cleanup(func() {
		for _, m := range []*lab.MariaDB{f.primary, f.replica} {
			if m != nil {
				_ = m.Kill()
			}
		}
	})
	require.NoError(t, starting.Wait())
	require.NoError(t, stage.MendingUser(ctx, f.primary, f.admin))
	for _, s := range []string{"CREATE DATABASE shop", "CREATE TABLE shop.t (id INT AUTO_INCREMENT PRIMARY KEY, v INT)"} {
		_, err := f.primary.DB().ExecContext(ctx, s)
		require.NoError(t, err)
	}
	for _, c := range channels {
		require.NoError(t, f.replica.Follow(ctx, f.primary, lab.ReplicationOptions{
			Channel: c, Password: f.password, SQL: fmt.Sprintf("MASTER_PORT=%d", f.door(t).Port())}))
	}
	require.NoError(t, on.Namespace(ctx, name))
	require.NoError(t, on.Secret(ctx, name, "admin", map[string]string{"username": "seedmend", "password": f.admin}))
	require.NoError(t, f.replica.ResetGeneralLog(ctx))
	f.write(t)
	return f
}

// door is a channel's way to the primary. A primary ends the dump of a server
// that comes a second time; by its own door each channel has an ID of its own.
func (f *flock) door(t *testing.T) *stage.Gate {
	t.Helper()
	g := openGate(t, f.primary)
	id := serverID()
	g.Change(func(payload []byte) {
		switch {
		case len(payload) > 11 && payload[0] == 0x12: // COM_BINLOG_DUMP: position, flags, ID
			binary.LittleEndian.PutUint32(payload[7:], id)
		case len(payload) > 5 && payload[0] == 0x15: // COM_REGISTER_SLAVE: ID
			binary.LittleEndian.PutUint32(payload[1:], id)
		}
	})
	return g
}

func openGate(t *testing.T, m *lab.MariaDB) *stage.Gate {
	t.Helper()
	g, err := stage.OpenGate(m.Addr())
	require.NoError(t, err)
	t.Cleanup(g.Close)
	return g
}

// write inserts rows until rowsArrive.
func (f *flock) write(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := 1; ctx.Err() == nil; n++ {
			_, _ = f.primary.DB().ExecContext(ctx, "INSERT INTO shop.t (v) VALUES (?)", n)
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
	f.writing = func() { cancel(); writer.Wait() }
	t.Cleanup(f.writing)
}

// rowsArrive ends the writer, and waits until the replica has every row.
func (f *flock) rowsArrive(t *testing.T) {
	t.Helper()
	f.writing()
	var want string
	eventually(t, patience, func() error {
		var got string
		const question = "SELECT CONCAT(COUNT(*), ' rows, sum ', SUM(v), ', ', SUM(CRC32(CONCAT(id, ':', v)))) FROM shop.t"
		if err := f.primary.DB().QueryRowContext(t.Context(), question).Scan(&want); err != nil {
			return err
		}
		if err := f.replica.DB().QueryRowContext(t.Context(), question).Scan(&got); err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("the replica has %s of %s", got, want)
		}
		return nil
	})
	t.Log(want)
}

// announce makes a group of some channels, seen at an address, with a Secret of
// its own that has the group's name.
func (f *flock) announce(t *testing.T, group string, port int, threshold time.Duration, channels ...string) {
	t.Helper()
	ctx := within(t, patience)
	require.NoError(t, on.Secret(ctx, f.namespace, group, map[string]string{"username": "repl", "password": f.password}))
	g := &mendv1alpha1.ReplicationGroup{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: group}}
	g.Spec.Primary = mendv1alpha1.Endpoint{Host: "127.0.0.1", Port: int32(f.primary.Port)}
	for _, c := range channels {
		g.Spec.Replicas = append(g.Spec.Replicas, mendv1alpha1.Replica{Name: c, Endpoint: mendv1alpha1.Endpoint{Host: "127.0.0.1", Port: int32(port)}, Channel: c})
	}
	g.Spec.AdminSecretRef.Name, g.Spec.ReplicationSecretRef.Name = "admin", group
	g.Spec.Recovery.ReconnectOnAuthError = true
	g.Spec.Recovery.ErrorDurationThreshold = &metav1.Duration{Duration: threshold}
	groups := on.Client.ReplicationGroups(f.namespace)
	_, err := groups.Create(ctx, g, metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = groups.Delete(context.WithoutCancel(ctx), group, metav1.DeleteOptions{})
	})
}

// publish puts a password into a group's Secret.
func (f *flock) publish(t *testing.T, group, password string) {
	t.Helper()
	ctx := within(t, patience)
	secrets := on.Client.Kube.CoreV1().Secrets(f.namespace)
	s, err := secrets.Get(ctx, group, metav1.GetOptions{})
	require.NoError(t, err)
	s.Data["password"] = []byte(password)
	_, err = secrets.Update(ctx, s, metav1.UpdateOptions{})
	require.NoError(t, err)
}

// rotate changes the password on the primary.
func (f *flock) rotate(t *testing.T) (password string) {
	t.Helper()
	password, err := f.primary.Rotate(within(t, patience), "repl", rand.Text())
	require.NoError(t, err)
	return password
}

// refused waits until the primary has refused every channel.
func (f *flock) refused(t *testing.T) {
	t.Helper()
	for _, c := range f.channels {
		f.channel(t, c, func(s map[string]string) bool { return s["Last_IO_Errno"] == "1045" })
	}
}

// channel waits until a channel's status is as wanted.
func (f *flock) channel(t *testing.T, name string, wanted func(map[string]string) bool) {
	t.Helper()
	eventually(t, patience, func() error {
		s, err := f.replica.ReplicaStatus(t.Context(), name)
		if err != nil || wanted(s) {
			return err
		}
		return fmt.Errorf("channel %s: IO %s (%s %s), SQL %s (%s %s)", name, s["Slave_IO_Running"], s["Last_IO_Errno"], s["Last_IO_Error"],
			s["Slave_SQL_Running"], s["Last_SQL_Errno"], s["Last_SQL_Error"])
	})
}

func replicates(s map[string]string) bool {
	return s["Slave_IO_Running"] == "Yes" && s["Slave_SQL_Running"] == "Yes" && s["Last_IO_Errno"] == "0" && s["Last_SQL_Errno"] == "0"
}

func stopped(s map[string]string) bool { return s["Slave_IO_Running"] == "No" }

func started(s map[string]string) bool {
	return s["Slave_IO_Running"] != "No" && s["Slave_SQL_Running"] == "Yes"
}

func (f *flock) ref(group, channel string) api.ReplicaRef {
	return api.ReplicaRef{Group: api.GroupRef{Kind: api.KindReplicationGroup, Namespace: f.namespace, Name: group}, Replica: channel, Channel: channel}
}

func (f *flock) workflow(group, channel string) string {
	return api.ReplicaWorkflowID(f.ref(group, channel))
}

// becomes waits until the group's status gives one of the reasons for a channel.
func (f *flock) becomes(t *testing.T, group, channel string, reasons ...api.Reason) {
	t.Helper()
	eventually(t, patience, func() error {
		g, err := on.Client.ReplicationGroups(f.namespace).Get(t.Context(), group, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, e := range g.Status.Replicas {
			if e.Channel != channel {
				continue
			}
			for _, r := range reasons {
				if e.Reason == string(r) {
					return nil
				}
			}
			return fmt.Errorf("%s/%s: status says %+v", f.namespace, channel, e)
		}
		return fmt.Errorf("%s/%s has no status", f.namespace, channel)
	})
}

// change is a statement of seedmend's that changes a channel.
type change struct {
	thread        int64
	word, channel string
}

// changes are those that the replica got, in order.
func (f *flock) changes(t *testing.T) (all []change) {
	t.Helper()
	log, err := f.replica.Statements(within(t, patience))
	require.NoError(t, err)
	for _, s := range log {
		words := strings.Fields(s.Argument)
		if s.User != "seedmend" || s.Command != "Query" || len(words) < 3 {
			continue
		}
		switch words[0] {
		case "STOP", "CHANGE", "START":
			all = append(all, change{s.ThreadID, words[0], strings.Trim(words[2], "'`")})
		}
	}
	return all
}

// assertStarted holds that each channel was started after it was last stopped.
func assertStarted(t *testing.T, all []change) {
	t.Helper()
	last := map[string]string{}
	for _, c := range all {
		if c.word != "CHANGE" {
			last[c.channel] = c.word
		}
	}
	for channel, word := range last {
		require.Equal(t, "START", word, "%s is left stopped: %v", channel, all)
	}
}

// assertOneAtATime holds that nobody else's statement came between those of one
// connection, which is one repair.
func assertOneAtATime(t *testing.T, all []change) {
	t.Helper()
	last := map[int64]int{}
	for i, c := range all {
		if before, ok := last[c.thread]; ok {
			require.Equal(t, i-1, before, "statement %d of %v came after another repair's", i, all)
		}
		last[c.thread] = i
	}
}
