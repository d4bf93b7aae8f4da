package main

import (
	"context"
	"fmt"
	"time"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/tests/stage"
)

func (b *bench) createBacklog(ctx context.Context, r *report) error {
	return b.drain(ctx, r, "create", api.ReasonCreated)
}

func (b *bench) adoptBacklog(ctx context.Context, r *report) error {
	if err := b.process.Stop(); err != nil {
		return err
	}
	all := orders("backlog-adopt", "adopt", b.backlog)
	if err := b.exist(ctx, all, api.ReasonAdopted); err != nil {
		return err
	}
	return b.drainOrders(ctx, r, "adopt", api.ReasonAdopted, all)
}

func (b *bench) drain(ctx context.Context, r *report, name string, want api.Reason) error {
	return b.drainOrders(ctx, r, name, want, orders("backlog-"+name, name, b.backlog))
}

// drainOrders starts seedmend on a backlog that is there, and times it from its
// start to the last Ready.
func (b *bench) drainOrders(ctx context.Context, r *report, name string, want api.Reason, all []order) error {
	namespace := all[0].namespace
	if err := b.stage.Namespace(ctx, namespace); err != nil {
		return err
	}
	if err := b.place(ctx, all); err != nil {
		return err
	}
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	settled, err := b.stage.Settlements(watching, namespace)
	if err != nil {
		return err
	}
	pause(ctx, 2*time.Second)

	profile := ""
	if b.cpuProfile != "" {
		profile = b.cpuProfile + "." + name
	}
	before, err := b.meters(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := b.start(profile); err != nil {
		return err
	}
	times, err := collect(ctx, settled, began, want, len(all))
	if err != nil {
		return fmt.Errorf("%w\n%s", err, end(b.process.Log()))
	}
	working, err := b.meters(ctx)
	if err != nil {
		return err
	}
	histories, err := b.histories(ctx, all)
	if err != nil {
		return err
	}
	after, err := b.meters(ctx)
	if err != nil {
		return err
	}
	d := drained{Kind: name, Requests: len(all), Histories: histories}
	d.rates(times)
	d.costs(before, working, after, len(all))
	r.Drained = append(r.Drained, d)
	if profile != "" {
		// The profile ends with the process.
		return b.restart(ctx)
	}
	return nil
}

// collect takes in n settlements: how long after the beginning each one came.
func collect(ctx context.Context, settled <-chan stage.Settlement, began time.Time, want api.Reason, n int) ([]time.Duration, error) {
	times := make([]time.Duration, 0, n)
	patience := time.Duration(n)*time.Second + time.Minute
	timeout := time.After(patience)
	for len(times) < n {
		select {
		case s, open := <-settled:
			if !open {
				return nil, errWatch
			}
			if err := right(s, want); err != nil {
				return nil, err
			}
			times = append(times, s.At.Sub(began))
		case <-timeout:
			return nil, fmt.Errorf("%d of %d settled in %s", len(times), n, patience)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return times, nil
}

// drained is how a backlog went. Costs are for each request.
type drained struct {
	Kind      string
	Requests  int
	Seconds   float64 // from the start of the process to the last Ready
	FirstTo   float64 // from the start of the process to the first Ready
	PerSecond float64 // over Seconds
	Steady    float64 // requests/s between the first and the last Ready
	Statements,
	Logins float64
	Calls     map[string]float64 // by verb and resource; of seedmend alone
	CallsAll  float64
	Histories histories
	usage
}

func (d *drained) rates(times []time.Duration) {
	first, last := times[0].Seconds(), times[len(times)-1].Seconds()
	d.FirstTo, d.Seconds = first, last
	d.PerSecond = float64(len(times)) / last
	if last > first {
		d.Steady = float64(len(times)-1) / (last - first)
	}
}

// costs: CPU until the last Ready, SQL and calls until the last workflow ended.
func (d *drained) costs(before, working, after meters, n int) {
	each := func(v float64) float64 { return v / float64(n) }
	d.usage = used(before, working, n)
	d.Statements = each(after.sql.statements - before.sql.statements)
	d.Logins = each(after.sql.logins - before.sql.logins)
	d.Calls = map[string]float64{}
	for call, n := range after.calls.since(before.calls) {
		if call.recurring() {
			continue
		}
		d.Calls[call.String()] = each(float64(n))
		d.CallsAll += each(float64(n))
	}
}
