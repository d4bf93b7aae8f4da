package starter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/seedmend/seedmend/api"
)

// Sweeps says how often replicas are looked at; 0 = never.
type Sweeps struct {
	// Groups is for ReplicationGroups, and for MariaDB resources that report an error.
	Groups time.Duration
	// Operated is for every MariaDB resource that opted in: a safety net.
	Operated time.Duration
}

// For are the sweeps that these groups need: none where there is nothing to look at.
func (s Sweeps) For(groups []api.Group) Sweeps {
	var need Sweeps
	for _, g := range groups {
		switch {
		case g.Kind == api.KindReplicationGroup:
			need.Groups = s.Groups
		case g.OptedIn:
			need = s
		}
	}
	return need
}

// Keep makes the schedules fit the groups, until ctx ends.
func (s Sweeps) Keep(ctx context.Context, c client.Client, groups func() []api.Group, log *slog.Logger) {
	ticker := time.NewTicker(keepEvery)
	defer ticker.Stop()
	made, first := Sweeps{}, true
	var told time.Time
	for {
		if need := s.For(groups()); first || need != made {
			err := need.Ensure(ctx, c)
			if err == nil {
				made, first = need, false
			} else if ctx.Err() == nil && time.Since(told) >= logEvery {
				told = time.Now()
				log.Warn("the schedules of the sweeps cannot be made; trying on", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// keepEvery is how soon a first group is looked at.
const keepEvery = time.Second

// catchup is how old a sweep may be that a server which was away still starts.
const catchup = 10 * time.Second

// Ensure creates or updates the schedules, or deletes the one that is switched off.
func (s Sweeps) Ensure(ctx context.Context, c client.Client) error {
	return errors.Join(
		ensure(ctx, c.ScheduleClient(), api.ScheduleSweep, s.Groups, api.SweepInput{}, "Look at the replicas of ReplicationGroups"),
		ensure(ctx, c.ScheduleClient(), api.ScheduleSweepOperated, s.Operated, api.SweepInput{Operated: true}, "Look at the replicas of MariaDB resources"),
	)
}

func ensure(ctx context.Context, schedules client.ScheduleClient, id string, every time.Duration, in api.SweepInput, summary string) error {
	if every <= 0 {
		if err := schedules.GetHandle(ctx, id).Delete(ctx); err != nil && !notFound(err) {
			return fmt.Errorf("delete schedule %s: %w", id, err)
		}
		return nil
	}
	spec := client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: every}}}
	action := &client.ScheduleWorkflowAction{
		ID: id, Workflow: api.WorkflowSweepReplicas, Args: []any{in}, TaskQueue: api.TaskQueueMend,
		// Without a worker a sweep is of no use later: the next one is.
		WorkflowRunTimeout: max(every, time.Minute),
		StaticSummary:      summary,
	}
	_, err := schedules.Create(ctx, client.ScheduleOptions{
		ID: id, Spec: spec, Action: action, Overlap: enums.SCHEDULE_OVERLAP_POLICY_SKIP, CatchupWindow: catchup,
		TriggerImmediately: true, Note: summary,
	})
	if !errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return err
	}
	// A person may have paused it; that stays.
	err = schedules.GetHandle(ctx, id).Update(ctx, client.ScheduleUpdateOptions{
		DoUpdate: func(u client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
			u.Description.Schedule.Spec, u.Description.Schedule.Action = &spec, action
			u.Description.Schedule.Policy = &client.SchedulePolicies{Overlap: enums.SCHEDULE_OVERLAP_POLICY_SKIP, CatchupWindow: catchup}
			return &client.ScheduleUpdate{Schedule: &u.Description.Schedule}, nil
		},
	})
	if err != nil {
		return fmt.Errorf("update schedule %s: %w", id, err)
	}
	return nil
}
