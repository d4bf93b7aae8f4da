package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/tests/lab"
	"github.com/seedmend/seedmend/tests/stage"
)

// order is one request of the bench.
type order struct {
	namespace, name    string
	database, username string
	password           string
}

// orders are n of them; the prefix keeps their databases apart from others'.
func orders(namespace, prefix string, n int) []order {
	out := make([]order, n)
	for i := range out {
		id := fmt.Sprintf("%s_%04d", prefix, i)
		out[i] = order{namespace, fmt.Sprintf("db-%04d", i), id, id + "_u", rand.Text()}
	}
	return out
}

func (o order) seed(m *lab.MariaDB) map[string]string {
	return stage.SeedFor(m, o.database, o.username, o.password)
}

func (o order) secretName() string { return o.name + "-seed" }

// existing makes a database and its account, to be adopted.
func (o order) existing(ctx context.Context, m *lab.MariaDB) error {
	for _, statement := range o.creation() {
		if _, err := m.DB().ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

func (o order) creation() []string {
	return []string{
		"CREATE DATABASE `" + o.database + "`",
		"CREATE USER '" + o.username + "'@'%' IDENTIFIED BY '" + o.password + "'",
		"GRANT ALL PRIVILEGES ON `" + o.database + "`.* TO '" + o.username + "'@'%'",
	}
}

// atOnce does something for every order, width of them at a time.
func atOnce(ctx context.Context, width int, all []order, do func(context.Context, order) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(width)
	for _, o := range all {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return do(ctx, o)
		})
	}
	return group.Wait()
}

// place makes the seeds and then the requests.
func (b *bench) place(ctx context.Context, all []order) error {
	err := atOnce(ctx, 16, all, func(ctx context.Context, o order) error {
		return b.stage.Secret(ctx, o.namespace, o.secretName(), o.seed(b.server))
	})
	if err != nil {
		return err
	}
	return atOnce(ctx, 16, all, func(ctx context.Context, o order) error {
		_, err := b.stage.Request(ctx, o.namespace, o.name)
		return err
	})
}

// right tells what is wrong with an outcome.
func right(s stage.Settlement, want api.Reason) error {
	c := meta.FindStatusCondition(s.Request.Status.Conditions, api.ConditionReady)
	if c == nil || c.Reason != string(want) {
		return fmt.Errorf("%s/%s is not Ready with %s: %+v", s.Request.Namespace, s.Request.Name, want, s.Request.Status.Conditions)
	}
	return nil
}

var errWatch = errors.New("the watch on the requests broke")
