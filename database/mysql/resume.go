package mysql

import (
	"context"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

// Resume sends START where the IO thread is stopped, and nothing where it is
// not. The SQL thread is started with it where an earlier repair has stopped
// both.
func (e *Engine) Resume(ctx context.Context, in database.ReplicaServer, threads api.Threads) (sent string, err error) {
	r := repair{engine: e, in: database.RepairInput{ReplicaServer: in}}
	if r.replica, err = e.patient(ctx, in.Replica); err != nil {
		return "", onReplica.mending(err)
	}
	defer func() { r.replica.discard() }()
	if err := r.meet(ctx); err != nil {
		return "", onReplica.mending(err)
	}
	if r.before, err = channelOf(ctx, r.replica, in.Channel); err != nil {
		return "", onReplica.mending(err)
	}
	if r.before.IO != api.IONo {
		return "", nil
	}
	// In MariaDB's GTID mode a START of both threads discards the relay log.
	if r.before.gtid && !r.before.SQL {
		if err := r.safe(ctx); err != nil {
			return "", err
		}
	}
	owed, cancel := context.WithTimeout(context.WithoutCancel(ctx), owedTime)
	defer cancel()
	r.startOwed = threads == api.ThreadsAll
	if err := r.start(owed); err != nil {
		return "", err
	}
	return r.done.Sent[len(r.done.Sent)-1], nil
}

// safe fails where the primary does not have what the replica has not applied.
func (r *repair) safe(ctx context.Context) (err error) {
	if r.before.applied() {
		return nil
	}
	if r.primary, err = r.engine.session(ctx, r.in.Primary); err != nil {
		return onPrimary.mending(err)
	}
	defer r.primary.close()
	log, err := backlog{r.before, r.replica, r.primary}.weigh(ctx)
	if err == nil && !log.Safe() {
		err = api.Failf(api.RelayLogNotApplied, "%s", log.Detail)
	}
	return err
}
