package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/mendv1alpha1"
	"github.com/seedmend/seedmend/tests/lab"
	"github.com/seedmend/seedmend/tests/stage"
)

// replicas records repairs: one replica that is broken again and again.
type replicas struct {
	*recorder
	primary, replica *lab.MariaDB
	password         string // that the primary knows
}

const firstPassword = "recorded-0"

var (
	group      = api.GroupRef{Kind: api.KindReplicationGroup, Namespace: namespace, Name: "db"}
	oneReplica = api.ReplicaRef{Group: group, Replica: "r1"}
)

// repairs are the histories, with what happens to a replica that is stuck and
// whose Secret is right.
func (r *replicas) repairs() []struct {
	name    string
	happens func(context.Context) error
	id      string
} {
	id := api.ReplicaWorkflowID(oneReplica)
	return []struct {
		name    string
		happens func(context.Context) error
		id      string
	}{
		{"replica-mended", r.becomes(api.ReasonRepaired), id},
		{"replica-cleared", r.each(r.becomes(api.ReasonThreshold), r.restore, r.becomes(api.ReasonReplicating)), id},
		{"replica-skipped", r.each(r.becomes(api.ReasonThreshold), r.update(api.WaitUpdate{Skip: true}), r.becomes(api.ReasonRepaired)), id},
		{"replica-threshold-changed", r.each(r.becomes(api.ReasonThreshold), r.update(api.WaitUpdate{Threshold: new(time.Duration)}), r.becomes(api.ReasonRepaired)), id},
		{"replica-mismatch", r.each(r.rotate, r.becomes(api.SecretMismatch), r.publish, r.becomes(api.ReasonRepaired)), id},
		{"replica-unapplied", r.each(r.unapplied, r.becomes(api.RelayLogNotApplied), r.apply, r.becomes(api.ReasonRepaired)), id},
		{"replica-cancelled", r.each(r.becomes(api.ReasonThreshold), r.cancel, r.restore), id},
		{"replica-explained", r.each(r.explain, r.restore), api.ExplainReplicaWorkflowID(oneReplica)},
	}
}

type doing = func(context.Context) error

func (r *replicas) each(all ...doing) doing {
	return func(ctx context.Context) error {
		for _, do := range all {
			if err := do(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

func (r *recorder) recordReplicas(ctx context.Context) error {
	x := &replicas{recorder: r, password: firstPassword}
	if err := x.start(ctx); err != nil {
		return err
	}
	for i, scene := range x.repairs() {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
		err := x.each(x.becomes(api.ReasonReplicating), x.rotate, x.publish, scene.happens)(ctx)
		if err == nil {
			_ = r.stage.Workflows.GetWorkflow(ctx, scene.id, "").Get(ctx, nil) // it may end as cancelled
			err = r.write(ctx, scene.id, scene.name)
		}
		cancel()
		if err != nil {
			return fmt.Errorf("%s (%d): %w", scene.name, i, err)
		}
		fmt.Println("recorded", scene.name)
	}
	return nil
}

func (r *replicas) start(ctx context.Context) (err error) {
	if r.primary, err = r.stage.Lab.StartMariaDB(ctx, lab.MariaDBOptions{Name: "primary", ServerID: 1}); err != nil {
		return err
	}
	if err := stage.MendingUser(ctx, r.primary, "recorded"); err != nil {
		return err
	}
	for _, statement := range []string{"CREATE DATABASE shop", "CREATE TABLE shop.t (id INT AUTO_INCREMENT PRIMARY KEY)"} {
		if err := run(ctx, r.primary, statement); err != nil {
			return err
		}
	}
	if r.replica, err = r.stage.Lab.StartReplica(ctx, r.primary, lab.MariaDBOptions{Name: "replica"}, lab.ReplicationOptions{Password: firstPassword}); err != nil {
		return err
	}
	err = errors.Join(
		r.stage.Namespace(ctx, namespace),
		r.stage.Secret(ctx, namespace, "admin", map[string]string{"username": "seedmend", "password": "recorded"}),
		r.stage.Secret(ctx, namespace, "replication", map[string]string{"username": "repl", "password": firstPassword}),
	)
	if err != nil {
		return err
	}
	g := &mendv1alpha1.ReplicationGroup{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: group.Name}}
	g.Spec.Primary = mendv1alpha1.Endpoint{Host: "127.0.0.1", Port: int32(r.primary.Port)}
	g.Spec.Replicas = []mendv1alpha1.Replica{{Name: oneReplica.Replica, Endpoint: mendv1alpha1.Endpoint{Host: "127.0.0.1", Port: int32(r.replica.Port)}}}
	g.Spec.AdminSecretRef.Name, g.Spec.ReplicationSecretRef.Name = "admin", "replication"
	g.Spec.Recovery.ReconnectOnAuthError = true
	g.Spec.Recovery.ErrorDurationThreshold = &metav1.Duration{Duration: 5 * time.Second}
	_, err = r.stage.Client.ReplicationGroups(namespace).Create(ctx, g, metav1.CreateOptions{})
	return err
}

func run(ctx context.Context, m *lab.MariaDB, statement string) error {
	_, err := m.DB().ExecContext(ctx, statement)
	return err
}

func (r *replicas) becomes(reason api.Reason) doing {
	return func(ctx context.Context) error {
		return stage.Eventually(ctx, func() error {
			g, err := r.stage.Client.ReplicationGroups(namespace).Get(ctx, group.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			for _, e := range g.Status.Replicas {
				if e.Reason == string(reason) {
					return nil
				}
			}
			return fmt.Errorf("it is not %s: %+v", reason, g.Status.Replicas)
		})
	}
}

func (r *replicas) rotate(ctx context.Context) (err error) {
	r.password, err = r.replica.Break(ctx, r.primary, "")
	return err
}

func (r *replicas) publish(ctx context.Context) error {
	secrets := r.stage.Client.Kube.CoreV1().Secrets(namespace)
	secret, err := secrets.Get(ctx, "replication", metav1.GetOptions{})
	if err != nil {
		return err
	}
	secret.Data["password"] = []byte(r.password)
	_, err = secrets.Update(ctx, secret, metav1.UpdateOptions{})
	return err
}

// restore gives the replica the password by hand.
func (r *replicas) restore(ctx context.Context) error {
	for _, statement := range []string{"STOP SLAVE", "CHANGE MASTER TO MASTER_PASSWORD='" + r.password + "'", "START SLAVE"} {
		if err := run(ctx, r.replica, statement); err != nil {
			return err
		}
	}
	return nil
}

func (r *replicas) update(u api.WaitUpdate) doing {
	return func(ctx context.Context) error {
		handle, err := r.stage.Workflows.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
			WorkflowID: api.ReplicaWorkflowID(oneReplica), UpdateName: api.UpdateWait, Args: []any{u}, WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		if err != nil {
			return err
		}
		return handle.Get(ctx, nil)
	}
}

// unapplied leaves a row in the relay log only. The replica is mended first.
func (r *replicas) unapplied(ctx context.Context) error {
	err := r.each(r.becomes(api.ReasonRepaired), r.becomes(api.ReasonReplicating))(ctx)
	for _, s := range []struct {
		on        *lab.MariaDB
		statement string
	}{
		{r.replica, "STOP SLAVE SQL_THREAD"}, {r.primary, "INSERT INTO shop.t VALUES ()"}, {r.primary, "DO SLEEP(1)"},
		{r.primary, "FLUSH BINARY LOGS"}, {r.primary, "DO SLEEP(1)"}, {r.primary, "PURGE BINARY LOGS BEFORE NOW() + INTERVAL 1 HOUR"},
	} {
		err = errors.Join(err, run(ctx, s.on, s.statement))
	}
	if err != nil {
		return err
	}
	return r.each(r.rotate, r.publish)(ctx)
}

func (r *replicas) apply(ctx context.Context) error {
	return run(ctx, r.replica, "START SLAVE SQL_THREAD")
}

func (r *replicas) cancel(ctx context.Context) error {
	return r.stage.Workflows.CancelWorkflow(ctx, api.ReplicaWorkflowID(oneReplica), "")
}

func (r *replicas) explain(ctx context.Context) error {
	code, _, errs := r.stage.Command(ctx, "repair", group.Key(), "--dry-run")
	if code != 0 {
		return fmt.Errorf("repair --dry-run: exit code %d: %s", code, errs)
	}
	return nil
}
