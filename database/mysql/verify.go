package mysql

import (
	"context"
	"fmt"
	"time"

	"github.com/seedmend/seedmend/api"
)

// The pauses between two looks at the replica.
const (
	firstPause = 10 * time.Millisecond
	nextPause  = 25 * time.Millisecond
	mostPause  = 500 * time.Millisecond

	verifyTime = 30 * time.Second
	// levelTime bounds a question to the primary, which need not be well.
	levelTime = 2 * time.Second
)

// verify looks at the replica until it is known how the repair ended.
func (r *repair) verify(ctx context.Context) error {
	within := r.in.Verify
	if within <= 0 {
		within = verifyTime
	}
	deadline := time.Now().Add(within)
	v := verifier{user: r.in.Credentials.Username, sql: r.before.SQL || !r.dialect.receiver && r.startsBoth()}
	for pause := firstPause; ; pause = min(max(pause*3/2, nextPause), mostPause) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(pause, time.Until(deadline))):
		}
		c, err := channelOf(ctx, r.replica, r.before.Name)
		if err != nil {
			return err
		}
		r.done.Channel = c.Channel
		level := c.IO == api.IOYes && r.level(ctx, c)
		if r.done.Outcome = v.look(c, level, time.Now()); r.done.Outcome != "" {
			break
		}
		if !time.Now().Before(deadline) {
			r.done.Outcome = api.OutcomeUnverified
			if v.refused > 0 {
				r.done.Outcome = api.OutcomeRefused
			}
			break
		}
	}
	if r.done.Outcome != api.OutcomeRepaired {
		r.done.Detail = state(r.done.Channel)
	}
	return nil
}

// state is a channel's state in words.
func state(c api.Channel) string {
	sql := "stopped"
	if c.SQL {
		sql = "running"
	}
	return fmt.Sprintf("IO thread %s (error %d), SQL thread %s (error %d)", c.IO, c.IOErrno, sql, c.SQLErrno)
}

// level tells whether there is nothing on the primary that was not received. An
// error only means that another sign is needed.
func (r *repair) level(ctx context.Context, c channelStatus) bool {
	ctx, cancel := context.WithTimeout(ctx, levelTime)
	defer cancel()
	if c.gtid {
		end, ok, err := r.primary.value(ctx, "SELECT @@GLOBAL.gtid_binlog_pos")
		return err == nil && ok && (end == "" || positionHas(c.Received, end, false))
	}
	rows, err := r.primary.rows(ctx, r.primary.server.dialect().position)
	return err == nil && len(rows) > 0 && c.Received == position(rows[0]["File"], rows[0]["Position"])
}

// sqlMoment is how long an SQL thread with something to apply is looked at.
const sqlMoment = 300 * time.Millisecond

// verifier judges a channel by a number of looks at it.
type verifier struct {
	user string
	// sql: the SQL thread is to run.
	sql bool

	// first is the first of the looks, without a gap, that saw it connected.
	first   *channelStatus
	since   time.Time
	refused int
	failed  int
}

// look answers how the repair ended; empty: not known yet. level: all that the
// primary has was received.
//
// "Yes" alone proves nothing: the thread says so before the first event comes,
// and a primary may refuse the position (1236). Two looks that see it connected
// and a sign do: something came, or there is nothing to come.
func (v *verifier) look(c channelStatus, level bool, now time.Time) api.Outcome {
	if c.IO != api.IOYes || c.IOErrno != 0 {
		v.first = nil
		return v.trouble(c)
	}
	v.refused, v.failed = 0, 0
	if c.User != v.user {
		return ""
	}
	if v.first == nil {
		v.first, v.since = &c, now
		return ""
	}
	came := c.Received != v.first.Received || c.heartbeats != v.first.heartbeats
	switch {
	case v.sql && !c.SQL && c.SQLErrno != 0:
		return api.OutcomeSQLStopped
	case v.sql && !c.SQL, !level && !came:
		return ""
	case !v.sql, level && c.applied(), now.Sub(v.since) >= sqlMoment:
		return api.OutcomeRepaired
	}
	return ""
}

// trouble wants to see it twice: START clears the error of before, and one more
// look costs little.
func (v *verifier) trouble(c channelStatus) api.Outcome {
	stopped := c.IO == api.IONo && c.IOErrno != 0
	switch {
	case c.Stuck():
		v.refused++
	case stopped:
		v.failed++
	default:
		v.refused, v.failed = 0, 0
	}
	switch {
	case v.refused > 1:
		return api.OutcomeRefused
	case v.failed > 1:
		return api.OutcomeUnverified
	}
	return ""
}
