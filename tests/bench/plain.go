package main

import (
	"context"
	"time"

	"github.com/seedmend/seedmend/k8s"
	"github.com/seedmend/seedmend/tests/lab"
)

// plainLoop is a loop without any engine: the same work, nothing durable about it.
type plainLoop struct {
	What      string
	Width     int // at once
	Requests  int
	Seconds   float64
	PerSecond float64
	Mean      float64 // milliseconds
	usage
}

// wide is how many a plain loop does at once when it does not go one by one: as
// many as seedmend has connections to a server.
const wide = 8

// plainLoops runs on a server of its own, which is as empty at the start as
// seedmend's.
func (b *bench) plainLoops(ctx context.Context, r *report) error {
	if err := ledger(ctx, b.plain); err != nil {
		return err
	}
	three := loop{what: "CREATE DATABASE, CREATE USER, GRANT", do: func(ctx context.Context, o order) error {
		return o.existing(ctx, b.plain)
	}}
	p := plain{kube: b.stage.Client, server: b.plain}
	same := loop{what: "the same SQL and API writes as seedmend", do: p.serve, prepare: b.place}
	for _, l := range []loop{three, same} {
		for _, width := range []int{1, wide} {
			done, err := b.loop(ctx, l, width)
			if err != nil {
				return err
			}
			r.Plain = append(r.Plain, done)
		}
	}
	return nil
}

type loop struct {
	what    string
	do      func(context.Context, order) error
	prepare func(context.Context, []order) error
}

func (b *bench) loop(ctx context.Context, l loop, width int) (plainLoop, error) {
	name := "plain-one-by-one"
	prefix := "one"
	if width > 1 {
		name, prefix = "plain-at-once", "many"
	}
	if l.prepare == nil {
		prefix = "sql_" + prefix
	}
	all := orders(name, "plain_"+prefix, b.backlog)
	if l.prepare != nil {
		if err := b.stage.Namespace(ctx, name); err != nil {
			return plainLoop{}, err
		}
		if err := l.prepare(ctx, all); err != nil {
			return plainLoop{}, err
		}
	}
	b.plain.DB().SetMaxIdleConns(wide)
	pause(ctx, time.Second)
	before, err := b.meters(ctx)
	if err != nil {
		return plainLoop{}, err
	}
	began := time.Now()
	if err := atOnce(ctx, width, all, l.do); err != nil {
		return plainLoop{}, err
	}
	took := time.Since(began)
	after, err := b.meters(ctx)
	if err != nil {
		return plainLoop{}, err
	}
	return plainLoop{
		What: l.what, Width: width, Requests: len(all), Seconds: took.Seconds(),
		PerSecond: float64(len(all)) / took.Seconds(),
		Mean:      took.Seconds() * 1000 * float64(width) / float64(len(all)),
		usage:     used(before, after, len(all)),
	}, nil
}

// plain is what somebody would write who trusts that nothing ever fails.
type plain struct {
	kube   *k8s.Client
	server *lab.MariaDB
}

func (p plain) serve(ctx context.Context, o order) error {
	for _, do := range []func(context.Context, order) error{p.sql, p.outputs, p.ready} {
		if err := do(ctx, o); err != nil {
			return err
		}
	}
	return nil
}
