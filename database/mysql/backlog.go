package mysql

import (
	"context"
	"fmt"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

// codeNoBinlog: the server writes no binary log.
const codeNoBinlog = 1381

// Backlog tells what a change of credentials would lose. It changes nothing.
func (e *Engine) Backlog(ctx context.Context, rs database.ReplicaServer) (api.Backlog, error) {
	replica, err := e.session(ctx, rs.Replica)
	if err != nil {
		return api.Backlog{}, onReplica.mending(err)
	}
	defer replica.close()
	c, err := channelOf(ctx, replica, rs.Channel)
	if err != nil {
		return api.Backlog{}, err
	}
	b := backlog{c: c, replica: replica}
	if b.needsPrimary() {
		if b.primary, err = e.session(ctx, rs.Primary); err != nil {
			return api.Backlog{}, onPrimary.mending(err)
		}
		defer b.primary.close()
	}
	return b.weigh(ctx)
}

// channelOf reads one channel, with the true position of what is applied: the
// column Gtid_Slave_Pos of MariaDB 10.11 has transactions in it that were written
// on the replica itself (tried). It is read first, so that what is received
// meanwhile does not look applied.
func channelOf(ctx context.Context, replica *session, name string) (channelStatus, error) {
	var applied string
	if replica.server.mariadb {
		var err error
		if applied, _, err = replica.value(ctx, "SELECT @@GLOBAL.gtid_slave_pos"); err != nil {
			return channelStatus{}, onReplica.mending(replica.at.failure(ctx, stepPositions, err))
		}
	}
	c, ok, err := replica.readChannel(ctx, name)
	if err != nil {
		return c, onReplica.mending(err)
	}
	if !ok {
		return c, api.Failf(api.ChannelMissing, "%s: the server has no replication channel %q", replica.at, name)
	}
	if c.gtid {
		c.Applied = applied
	}
	return c, nil
}

// backlog is what is looked at.
type backlog struct {
	c                channelStatus
	replica, primary *session
}

// survives: on MySQL from 5.7.4 CHANGE keeps the relay log as long as one of the
// threads runs, and only the IO thread is stopped for it.
func (b backlog) survives() bool { return b.replica.server.dialect().receiver && b.c.SQL }

func (b backlog) needsPrimary() bool { return !b.survives() && !b.c.applied() }

func (b backlog) weigh(ctx context.Context) (api.Backlog, error) {
	c := b.c
	out := api.Backlog{Draining: c.SQL && c.Delay == 0 && c.SQLErrno == 0}
	applied, err := b.applied(ctx)
	switch {
	case err != nil:
		return out, err
	case applied:
		out.Applied, out.Detail = true, fmt.Sprintf("all that was fetched is applied (%s)", c.Applied)
		return out, nil
	case b.survives():
		out.Kept, out.Detail = true, "the SQL thread runs, so that the relay log stays"
		return out, nil
	}
	var why string
	if out.Kept, why, err = b.kept(ctx); err != nil {
		return out, err
	}
	out.Detail = fmt.Sprintf("fetched up to %s, applied up to %s; %s", known(c.Received), known(c.Applied), why)
	return out, nil
}

func known(position string) string {
	if position == "" {
		return "an unknown position"
	}
	return position
}

func (b backlog) applied(ctx context.Context) (bool, error) {
	if b.c.applied() {
		return true, nil
	}
	if b.c.retrieved == "" {
		return false, nil
	}
	v, ok, err := b.replica.value(ctx, "SELECT GTID_SUBSET(?, ?)", b.c.retrieved, b.c.executed)
	return ok && v == "1", onReplica.mending(b.replica.at.failure(ctx, stepPositions, err))
}

// kept tells whether the primary's binary logs reach back to what is applied.
func (b backlog) kept(ctx context.Context) (bool, string, error) {
	if b.c.GTID != "" && !b.c.gtid {
		return b.keptSet(ctx)
	}
	files, err := b.primary.rows(ctx, "SHOW BINARY LOGS")
	if code(err) == codeNoBinlog {
		return false, "the primary writes no binary log", nil
	}
	if err != nil {
		b.primary.note(err)
		return false, "", b.primaryFailure(ctx, err)
	}
	if len(files) == 0 {
		return false, "the primary has no binary logs", nil
	}
	if b.c.gtid {
		return b.keptGTID(ctx, files[0]["Log_name"])
	}
	for _, f := range files {
		if b.c.relayFile != "" && f["Log_name"] == b.c.relayFile {
			return true, fmt.Sprintf("the primary still has %s", b.c.relayFile), nil
		}
	}
	return false, fmt.Sprintf("the primary's binary logs begin with %s", files[0]["Log_name"]), nil
}

func (b backlog) keptGTID(ctx context.Context, first string) (bool, string, error) {
	before, ok, err := b.primary.value(ctx, "SELECT BINLOG_GTID_POS(?, 4)", first)
	if err != nil {
		return false, "", b.primaryFailure(ctx, err)
	}
	start, ok1 := parseGTIDs(before)
	own, ok2 := parseGTIDs(b.c.Applied)
	switch {
	case !ok || !ok1 || !ok2:
		return false, fmt.Sprintf("it is not known where the primary's oldest binary log %s begins", first), nil
	case before == "":
		return true, "the primary has all its binary logs", nil
	case own.has(start, false):
		return true, fmt.Sprintf("the primary's binary logs reach back to %s", before), nil
	}
	return false, fmt.Sprintf("the primary's binary logs begin after %s", before), nil
}

// keptSet is about MySQL with Auto_Position.
func (b backlog) keptSet(ctx context.Context) (bool, string, error) {
	purged, ok, err := b.primary.value(ctx, "SELECT @@GLOBAL.gtid_purged")
	if err != nil {
		return false, "", b.primaryFailure(ctx, err)
	}
	if !ok {
		return false, "it is not known what the primary has purged", nil
	}
	v, ok, err := b.replica.value(ctx, "SELECT GTID_SUBSET(?, @@GLOBAL.gtid_executed)", purged)
	if err != nil {
		return false, "", onReplica.mending(b.replica.at.failure(ctx, stepPositions, err))
	}
	if ok && v == "1" {
		return true, "the primary still has all that is not applied", nil
	}
	return false, "the primary has purged what is not applied", nil
}

func (b backlog) primaryFailure(ctx context.Context, err error) error {
	return onPrimary.mending(b.primary.at.failure(ctx, stepPositions, err))
}
