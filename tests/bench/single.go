package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/seedmend/seedmend/api"
)

// warmUp requests come before those that count.
const warmUp = 3

// singles times requests one after the other, each from just before the call
// that makes it to the moment that a watch shows it Ready.
func (b *bench) singles(want api.Reason) func(context.Context, *report) error {
	return func(ctx context.Context, r *report) error {
		kind := "create"
		if want == api.ReasonAdopted {
			kind = "adopt"
		}
		all := orders("single-"+kind, "single_"+kind, warmUp+b.single)
		if err := b.exist(ctx, all, want); err != nil {
			return err
		}
		times, err := b.oneByOne(ctx, all, want)
		if err != nil {
			return err
		}
		r.Singles = append(r.Singles, spread(kind, times[warmUp:]))
		return nil
	}
}

// exist makes what is to be adopted.
func (b *bench) exist(ctx context.Context, all []order, want api.Reason) error {
	if want != api.ReasonAdopted {
		return nil
	}
	return atOnce(ctx, 4, all, func(ctx context.Context, o order) error { return o.existing(ctx, b.server) })
}

func (b *bench) oneByOne(ctx context.Context, all []order, want api.Reason) ([]time.Duration, error) {
	if err := b.stage.Namespace(ctx, all[0].namespace); err != nil {
		return nil, err
	}
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	settled, err := b.stage.Settlements(watching, all[0].namespace)
	if err != nil {
		return nil, err
	}
	var times []time.Duration
	for _, o := range all {
		if err := b.stage.Secret(ctx, o.namespace, o.secretName(), o.seed(b.server)); err != nil {
			return nil, err
		}
		began := time.Now()
		if _, err := b.stage.Request(ctx, o.namespace, o.name); err != nil {
			return nil, err
		}
		took, err := collect(ctx, settled, began, want, 1)
		if err != nil {
			return nil, err
		}
		times = append(times, took...)
		pause(ctx, 50*time.Millisecond) // the run still deletes the seed and closes
	}
	return times, nil
}

// latency is how long single requests took, in milliseconds.
type latency struct {
	Kind               string
	Requests           int
	P50, P95, Min, Max float64
}

func spread(kind string, times []time.Duration) latency {
	slices.Sort(times)
	at := func(q float64) float64 {
		return float64(times[min(len(times)-1, int(q*float64(len(times))))].Microseconds()) / 1000
	}
	return latency{Kind: kind, Requests: len(times), P50: at(0.5), P95: at(0.95), Min: at(0), Max: at(1)}
}

// end is the end of a log.
func end(log string) string {
	lines := strings.Split(strings.TrimRight(log, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}
