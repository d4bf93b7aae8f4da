package story

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/mendv1alpha1"
	"github.com/seedmend/seedmend/tests/lab"
	"github.com/seedmend/seedmend/tests/stage"
)

// sweepEvery is short here, so that nobody has to wait for half a minute.
const sweepEvery = 2 * time.Second

// mendThreshold is five minutes in real life.
const mendThreshold = 8 * time.Second

const (
	groupName         = "orders"
	replicaName       = "replica-1"
	replicationSecret = "orders-replication"
)

// pair is a primary and its replica, and the ReplicationGroup that names them.
type pair struct {
	*story
	primary, replica *lab.MariaDB
	rows             int // that the primary has
}

func replicaRef() api.ReplicaRef {
	return api.ReplicaRef{Group: api.GroupRef{Kind: api.KindReplicationGroup, Namespace: namespace, Name: groupName}, Replica: replicaName}
}

// startPair starts both, once.
func (s *story) startPair(ctx context.Context) (p *pair, err error) {
	if s.pair != nil {
		return s.pair, nil
	}
	p = &pair{story: s}
	if p.primary, err = s.stage.Lab.StartMariaDB(ctx, lab.MariaDBOptions{Name: "orders-primary", ServerID: 101}); err != nil {
		return nil, err
	}
	admin, password := rand.Text(), rand.Text()
	if err := stage.MendingUser(ctx, p.primary, admin); err != nil {
		return nil, err
	}
	if err := p.on(ctx, p.primary,
		"CREATE DATABASE orders", "CREATE TABLE orders.lines (id INT AUTO_INCREMENT PRIMARY KEY, item VARCHAR(20))",
	); err != nil {
		return nil, err
	}
	if p.replica, err = s.stage.Lab.StartReplica(ctx, p.primary, lab.MariaDBOptions{Name: "orders-replica"}, lab.ReplicationOptions{Password: password}); err != nil {
		return nil, err
	}
	for name, values := range map[string]map[string]string{
		"orders-admin":    {"username": "seedmend", "password": admin},
		replicationSecret: {"username": "repl", "password": password},
	} {
		if err := s.stage.Secret(ctx, namespace, name, values); err != nil {
			return nil, err
		}
	}
	g := &mendv1alpha1.ReplicationGroup{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: groupName}}
	g.Spec.Primary = mendv1alpha1.Endpoint{Host: "127.0.0.1", Port: int32(p.primary.Port)}
	g.Spec.Replicas = []mendv1alpha1.Replica{{Name: replicaName, Endpoint: mendv1alpha1.Endpoint{Host: "127.0.0.1", Port: int32(p.replica.Port)}}}
	g.Spec.AdminSecretRef.Name, g.Spec.ReplicationSecretRef.Name = "orders-admin", replicationSecret
	g.Spec.Recovery.ReconnectOnAuthError = true
	g.Spec.Recovery.ErrorDurationThreshold = &metav1.Duration{Duration: mendThreshold}
	if _, err := s.stage.Client.ReplicationGroups(namespace).Create(ctx, g, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	s.pair = p
	return p, nil
}

// on runs statements, one after the other.
func (p *pair) on(ctx context.Context, m *lab.MariaDB, statements ...string) error {
	for _, statement := range statements {
		if _, err := m.DB().ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return nil
}

// write adds rows on the primary.
func (p *pair) write(ctx context.Context, n int) error {
	p.rows += n
	return p.on(ctx, p.primary, "INSERT INTO orders.lines (item) VALUES "+strings.TrimSuffix(strings.Repeat("('apples'),", n), ","))
}

// arrived counts the rows on the replica.
func (p *pair) arrived(ctx context.Context) (n int, err error) {
	err = p.replica.DB().QueryRowContext(ctx, "SELECT COUNT(*) FROM orders.lines").Scan(&n)
	return n, err
}

// allArrived waits until the replica has every row.
func (p *pair) allArrived(ctx context.Context) error {
	return stage.Eventually(ctx, func() error {
		n, err := p.arrived(ctx)
		if err == nil && n != p.rows {
			err = fmt.Errorf("the replica has %d rows of %d", n, p.rows)
		}
		return err
	})
}

// rotate changes the replication user's password on the primary, and leaves the
// replica with the old one. It returns when the replica reports 1045.
func (p *pair) rotate(ctx context.Context) (password string, err error) {
	return p.replica.Break(ctx, p.primary, "")
}

// publish puts the password into the Secret.
func (p *pair) publish(ctx context.Context, password string) error {
	secrets := p.stage.Client.Kube.CoreV1().Secrets(namespace)
	secret, err := secrets.Get(ctx, replicationSecret, metav1.GetOptions{})
	if err != nil {
		return err
	}
	secret.Data["password"] = []byte(password)
	_, err = secrets.Update(ctx, secret, metav1.UpdateOptions{})
	return err
}

// becomes waits until the group's status gives a reason for the replica.
func (p *pair) becomes(ctx context.Context, reason api.Reason) (e mendv1alpha1.ReplicaStatus, err error) {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	err = stage.Eventually(ctx, func() error {
		g, err := p.stage.Client.ReplicationGroups(namespace).Get(ctx, groupName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, e = range g.Status.Replicas {
			if e.Reason == string(reason) {
				return nil
			}
		}
		return fmt.Errorf("the status does not say %s: %+v", reason, e)
	})
	return e, err
}

// sent are seedmend's statements on the replica that are no reads.
func (p *pair) sent(ctx context.Context) (out []string, err error) {
	all, err := p.replica.Statements(ctx)
	for _, s := range all {
		verb, _, _ := strings.Cut(s.Argument, " ")
		if s.User == "seedmend" && s.Command == "Query" && verb != "SELECT" && verb != "SHOW" {
			out = append(out, verb)
		}
	}
	return out, err
}
