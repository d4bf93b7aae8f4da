package activities

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/sdk/activity"
	corev1 "k8s.io/api/core/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

// Groups is what mending needs of the Kubernetes API.
type Groups interface {
	// Group reads the live resource; k8s.ErrGone where it is none any more.
	Group(ctx context.Context, ref api.GroupRef) (api.Group, error)
	// ReadSecret fails with k8s.ErrNotFound where there is none.
	ReadSecret(ctx context.Context, ref api.SecretRef) (*corev1.Secret, error)
	// UpdateReplicas changes what the group's status says of its replicas.
	UpdateReplicas(ctx context.Context, g api.Group, change func(now []api.ReplicaStatus) []api.ReplicaStatus) error
}

// GroupEvents tells what happened to a replica.
type GroupEvents interface {
	GroupNormal(g api.Group, reason, message string)
	GroupWarning(g api.Group, reason, message string)
}

// Runs starts and wakes the workflows that mend.
type Runs interface {
	// Look starts a run, or wakes the one that is under way. One that failed for
	// good is not started anew for the same versions.
	Look(ctx context.Context, in api.MendInput, now api.Versions, why string) error
	// Wake wakes the run that is under way, if there is one.
	Wake(ctx context.Context, r api.ReplicaRef, why string) error
	// Owed is what the replica's last run has left stopped, if it was cut, and
	// whether it is still under way.
	Owed(ctx context.Context, r api.ReplicaRef) (owed api.Threads, running bool, err error)
}

// Mender holds the steps of RepairReplicaAuth and SweepReplicas.
type Mender struct {
	Groups Groups
	// Known lists the groups from the informers' caches.
	Known  func() []api.Group
	Engine database.Replication
	Runs   Runs
	Events GroupEvents
	Log    *slog.Logger

	seen sightings
}

var _ api.MendSteps = (*Mender)(nil)

// NewMender returns a Mender with working memory; the fields are set by the caller.
func NewMender() *Mender { return &Mender{seen: newSightings()} }

// trouble turns what may pass by itself into an answer. Hard failures and steps
// that were cut stay errors.
func trouble(err error) (*api.Trouble, error) {
	var f *api.Failure
	if errors.As(err, &f) && !f.Hard() {
		return &api.Trouble{Reason: f.Reason, Message: f.Message}, nil
	}
	return nil, err
}

// Drain waits while the SQL thread is at work on what was fetched.
func (m *Mender) Drain(ctx context.Context, in api.DrainInput) (out api.Drained, err error) {
	defer beat(ctx)()
	servers, err := m.servers(ctx, in.Target)
	if err != nil {
		out.Trouble, err = trouble(err)
		return out, err
	}
	end := time.Now().Add(in.Target.DrainTimeout)
	for pause := 200 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		out.Backlog, err = m.Engine.Backlog(ctx, servers)
		if err != nil {
			out.Trouble, err = trouble(err)
			return out, err
		}
		if out.Backlog.Safe() || !out.Backlog.Draining || time.Now().After(end) {
			return out, nil
		}
		if err := rest(ctx, pause); err != nil {
			return out, err
		}
	}
}

// rest is a pause that ends early when the step or its worker ends.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-activity.GetWorkerStopChannel(ctx):
		return errors.New("the worker is stopping; another one goes on")
	}
}

// Repair changes the credentials and proves that the replica replicates.
func (m *Mender) Repair(ctx context.Context, in api.RepairInput) (out api.Repair, err error) {
	defer beat(ctx)()
	out.Cut = activity.GetInfo(ctx).Attempt > 1
	again := in.Owed || out.Cut
	out.Mending, err = m.repair(ctx, in, again)
	var f *api.Failure
	if errors.As(err, &f) && f.Reason == api.ServerBusy {
		return out, err // the group's turn has not come; it comes soon
	}
	if err != nil {
		out.Trouble, err = trouble(err)
		return out, err
	}
	if did := &out.Mending; again && did.Outcome == api.OutcomeHealed && did.Channel.IO == api.IOYes {
		did.Outcome = api.OutcomeRepaired
		did.Detail = "an attempt that was cut had sent the statements"
	}
	return out, nil
}

func (m *Mender) repair(ctx context.Context, in api.RepairInput, again bool) (api.Mending, error) {
	secret, cred, err := m.credentials(ctx, in.Target.Replication, api.SecretUnusable)
	if err != nil {
		return api.Mending{}, err
	}
	if secret.ResourceVersion != in.SecretVersion {
		return api.Mending{}, api.Failf(api.SecretChanged, "Secret %q was edited since it was proven", secret.Name)
	}
	servers, err := m.servers(ctx, in.Target)
	if err != nil {
		return api.Mending{}, err
	}
	did, err := m.Engine.Repair(ctx, database.RepairInput{ReplicaServer: servers, Credentials: cred, StartOwed: again, Verify: in.Verify})
	line := []any{"replica", in.Target.Ref().Key(), "outcome", did.Outcome, "sent", did.Sent}
	if did.Detail != "" {
		line = append(line, "detail", did.Detail)
	}
	if err != nil {
		line = append(line, "error", err)
	}
	m.Log.Info("repair", line...)
	return did, err
}

// Resume starts what an earlier repair has stopped.
func (m *Mender) Resume(ctx context.Context, in api.ResumeInput) (api.Resumption, error) {
	defer beat(ctx)()
	servers, err := m.servers(ctx, in.Target)
	if err != nil {
		return api.Resumption{}, err
	}
	sent, err := m.Engine.Resume(ctx, servers, in.Threads)
	m.Log.Info("resume", "replica", in.Target.Ref().Key(), "sent", sent, "error", err)
	var f *api.Failure
	if errors.As(err, &f) && f.Reason == api.RelayLogNotApplied {
		return api.Resumption{Held: &api.Trouble{Reason: f.Reason, Message: f.Message}}, nil
	}
	return api.Resumption{Sent: sent}, err
}

// beat tells Temporal that the step is alive, until the function that it
// returns is called.
func beat(ctx context.Context) (stop func()) {
	done := make(chan struct{})
	go func() {
		ticker := time.NewTicker(2 * time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				activity.RecordHeartbeat(ctx)
			}
		}
	}()
	return func() { close(done) }
}

// message names the replica that an event is about.
func message(r api.ReplicaRef, text string) string {
	name := r.Replica
	if r.Channel != "" {
		name += ", channel " + fmt.Sprintf("%q", r.Channel)
	}
	return fmt.Sprintf("replica %s: %s", name, text)
}
