package main

import (
	"context"
	"time"
)

// idle is what a seedmend costs that has nothing to do.
type idle struct {
	Seconds    float64
	Requests   int // Ready ones that it watches
	Statements float64
	Writes     int // API writes but those of the lease
	Leases     int // calls that keep the lease
	Workflows  int64
	CPU        float64 // share of one core
	RSS        float64 // MiB
}

func (b *bench) idling(ctx context.Context, r *report) error {
	pause(ctx, 5*time.Second) // events are sent in the background
	workflows, err := b.workflowCount(ctx)
	if err != nil {
		return err
	}
	before, err := b.meters(ctx)
	if err != nil {
		return err
	}
	pause(ctx, b.idle)
	after, err := b.meters(ctx)
	if err != nil {
		return err
	}
	then, err := b.workflowCount(ctx)
	if err != nil {
		return err
	}
	i := idle{
		Seconds: b.idle.Seconds(), Requests: b.backlog,
		Statements: after.sql.statements - before.sql.statements,
		Workflows:  then - workflows,
		CPU:        after.cpu.since(before.cpu)["seedmend"] / b.idle.Seconds(),
		RSS:        rss(b.process.PID()),
	}
	for call, n := range after.calls.since(before.calls) {
		switch {
		case call.resource == "leases":
			i.Leases += n
		case call.writes():
			i.Writes += n
		}
	}
	r.Idle = i
	return nil
}
