package mysql

import (
	"context"
	"errors"

	"github.com/seedmend/seedmend/api"
)

// send runs a statement that changes something, and notes it as shown.
func (r *repair) send(ctx context.Context, st step, statement, shown string) error {
	_, err := r.replica.exec(ctx, statement)
	if err == nil {
		r.done.Sent = append(r.done.Sent, shown)
	}
	err = onReplica.mending(r.replica.at.failure(ctx, st, err))
	if st == stepChange {
		return changeFailure(err)
	}
	return err
}

// changeFailure leaves out what the server says: "too long" (1470) quotes the
// password. Its reasons are about a seed.
func changeFailure(err error) error {
	var f *api.Failure
	if !errors.As(err, &f) {
		return err
	}
	g := api.Failure{Reason: f.Reason, Message: f.Message}
	switch f.Reason {
	case api.NameInvalid:
		g.Reason = api.PasswordTooLong
		g.Message = "the replica's server takes neither user names nor passwords of this length, or in these characters"
	case api.SeedInvalid:
		g.Reason = api.SecretUnusable
	}
	return &g
}

// neverRan tells whether the server refused a statement before doing anything.
func neverRan(err error) bool {
	var f *api.Failure
	return errors.As(err, &f) && (f.Reason == reasonStatement || f.Reason == api.AdminPrivilegeMissing)
}

// reconnect takes a new connection where the old one is gone or at work.
func (r *repair) reconnect(ctx context.Context) {
	if !r.replica.broken {
		return
	}
	if s, err := r.engine.patient(ctx, r.in.Replica); err == nil {
		r.replica.discard()
		r.replica = s
	}
}

// heartbeat is the channel's period; empty: not known.
func (r *repair) heartbeat(ctx context.Context) string {
	if r.before.heartbeat != "" || r.dialect.heartbeat == "" {
		return r.before.heartbeat
	}
	var args []any
	if r.dialect.named == namedAfter {
		args = append(args, r.before.Name)
	}
	period, _, err := r.replica.value(ctx, r.dialect.heartbeat, args...)
	if err != nil || !isPeriod(period) {
		return ""
	}
	return period
}
