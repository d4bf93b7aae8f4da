package mysql

import (
	"context"
	"strings"
	"time"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

// Repair sends STOP, CHANGE and START, each once, and waits for the proof that
// the replica replicates. Everything else that it sends are reads and the locks.
func (e *Engine) Repair(ctx context.Context, in database.RepairInput) (api.Mending, error) {
	r := repair{engine: e, in: in}
	if err := usable(in.Credentials); err != nil {
		return r.done, err
	}
	unlock, err := e.groups.lock(ctx, in.Group)
	if err != nil {
		return r.done, err
	}
	defer unlock()
	if r.primary, err = e.session(ctx, in.Primary); err != nil {
		return r.done, onPrimary.mending(err)
	}
	// Ends the lock, like the replica's below.
	defer r.primary.discard()
	if _, err := r.primary.lockFor(ctx, "group", in.Group); err != nil {
		return r.done, onPrimary.mending(err)
	}
	if r.replica, err = e.patient(ctx, in.Replica); err != nil {
		return r.done, onReplica.mending(err)
	}
	defer func() { r.replica.discard() }()
	if err := r.meet(ctx); err != nil {
		return r.done, onReplica.mending(err)
	}
	err = r.run(ctx)
	return r.done, err
}

type repair struct {
	engine           *Engine
	in               database.RepairInput
	replica, primary *session
	dialect          dialect
	// before is the channel as it was found.
	before channelStatus
	// startOwed: an earlier repair stopped the replica, as far as one can see.
	startOwed bool
	done      api.Mending
}

// meet takes the replica's lock and learns the connection's ways.
func (r *repair) meet(ctx context.Context) (err error) {
	r.dialect = r.replica.server.dialect()
	if r.dialect.escapes, err = r.replica.lockFor(ctx, "replica", r.in.Channel); err != nil {
		return err
	}
	if isUTF8(r.replica.server.charset) || isASCII(r.in.Credentials.Username+r.in.Credentials.Password+r.in.Channel) {
		return nil
	}
	// The server keeps the password as UTF-8, and would convert what it takes
	// for another character set.
	_, err = r.replica.exec(ctx, "SET NAMES utf8mb4")
	return r.replica.at.failure(ctx, stepServer, err)
}

func isUTF8(charset string) bool { return strings.HasPrefix(charset, "utf8") }

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > 0x7F }) < 0
}

// run looks once more, and then does it.
func (r *repair) run(ctx context.Context) error {
	var err error
	if r.before, err = channelOf(ctx, r.replica, r.in.Channel); err != nil {
		return err
	}
	r.done.Channel = r.before.Channel
	r.startOwed = r.in.StartOwed && r.before.IO == api.IONo
	if !r.before.Stuck() && !r.startOwed {
		r.done.Outcome = api.OutcomeHealed
		return nil
	}
	follows, err := r.followsPrimary(ctx)
	if err != nil {
		return onPrimary.mending(err)
	}
	if !follows {
		r.done.Outcome = api.OutcomeMismatch
		return nil
	}
	if err := r.replica.server.storable(r.in.Credentials); err != nil {
		return err
	}
	log, err := backlog{r.before, r.replica, r.primary}.weigh(ctx)
	if err != nil {
		return err
	}
	if !log.Safe() {
		r.done.Outcome, r.done.Detail = api.OutcomeUnsafe, log.Detail
		return r.startUnchanged(ctx)
	}
	if err := r.mend(ctx); err != nil {
		return err
	}
	return r.verify(ctx)
}

// followsPrimary compares the address, and where that differs the server's ID.
func (r *repair) followsPrimary(ctx context.Context) (bool, error) {
	p := r.before.Primary
	if sameHost(p.Host, r.in.Primary.Host) && p.Port == r.in.Primary.Port {
		return true, nil
	}
	id, _, err := r.primary.value(ctx, "SELECT @@server_id")
	if err != nil {
		return false, r.primary.at.failure(ctx, stepPositions, err)
	}
	n := int64(digits(id))
	if n != 0 && n == r.before.PrimaryID {
		return true, nil
	}
	r.done.Detail = "the replica follows " + site{addr: database.Address(p)}.String() + ", which is not " + r.primary.at.String()
	return false, nil
}

func sameHost(a, b string) bool {
	return strings.EqualFold(strings.TrimSuffix(a, "."), strings.TrimSuffix(b, "."))
}

// mend sends the three statements. From STOP on it runs to its end, whatever
// becomes of the caller: a replica that is stopped is to be started.
func (r *repair) mend(ctx context.Context) error {
	heartbeat := r.heartbeat(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	owed, cancel := context.WithTimeout(context.WithoutCancel(ctx), owedTime)
	defer cancel()
	if r.before.IO != api.IONo || r.before.SQL && !r.dialect.receiver {
		stop := r.dialect.Stop(r.before.Name)
		err := r.send(owed, stepStop, stop, stop)
		if err != nil {
			// A STOP that was cut or gave up may stop the replica later on.
			if !neverRan(err) {
				_ = r.start(owed)
			}
			return err
		}
	}
	statement, shown := r.dialect.Change(r.before.Name, r.in.Credentials, heartbeat)
	changed := r.send(owed, stepChange, statement, shown)
	started := r.start(owed)
	if changed != nil {
		return changed
	}
	return started
}

// start is tried for as long as there is time: nobody else may do it.
func (r *repair) start(ctx context.Context) error {
	start := r.dialect.Start(r.before.Name, r.startsBoth())
	for pause := 100 * time.Millisecond; ; pause *= 2 {
		err := r.send(ctx, stepStart, start, start)
		if err == nil || neverRan(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
		r.reconnect(ctx)
	}
}

// startsBoth: the SQL thread is to run afterwards if it ran before. What an
// earlier repair stopped did, unless it had failed.
func (r *repair) startsBoth() bool {
	return r.before.SQL || r.startOwed && r.before.SQLErrno == 0
}

// startUnchanged starts what is owed where a change would lose events: the SQL
// thread can then apply them. In MariaDB's GTID mode START itself would discard
// the relay log: there the replica stays stopped, with all that it has.
func (r *repair) startUnchanged(ctx context.Context) error {
	if !r.startOwed || r.before.gtid && !r.before.SQL {
		return nil
	}
	owed, cancel := context.WithTimeout(context.WithoutCancel(ctx), owedTime)
	defer cancel()
	return r.start(owed)
}
