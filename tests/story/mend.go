package story

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/tests/stage"
)

// stuck is a replica whose password has diverged.
func (s *story) stuck() scene {
	sc := scene{request: "stuck-replica", want: api.ReasonRepaired}
	sc.title = "Mend: a replica is stuck on 1045"
	sc.shows = fmt.Sprintf("Its password was changed on the primary. After %s it gets the one that the Secret holds, and what was written meanwhile arrives.", mendThreshold)
	sc.mend = func(ctx context.Context, r *result) error {
		stop := s.wait("working")
		defer stop()
		p, err := s.startPair(ctx)
		if err != nil {
			return err
		}
		if err := p.begin(ctx, r, 50); err != nil {
			return err
		}
		password, err := p.rotate(ctx)
		if err != nil {
			return err
		}
		broken := time.Now()
		if err := errors.Join(p.publish(ctx, password), p.write(ctx, 200)); err != nil {
			return err
		}
		if _, err := p.becomes(ctx, api.ReasonThreshold); err != nil {
			return err
		}
		s.item("the replica reports 1045, the primary has 200 rows more; the timer of %s runs: %s", mendThreshold, r.link)
		e, err := p.becomes(ctx, api.ReasonRepaired)
		if err != nil {
			return err
		}
		r.took = time.Since(broken)
		r.expect(r.took > mendThreshold, "it was mended before the threshold")
		return p.finish(ctx, r, e.Message)
	}
	return sc
}

// trap is where a change by hand would lose rows for good.
func (s *story) trap() scene {
	sc := scene{request: "trapped-replica", want: api.RelayLogNotApplied}
	sc.title = "The trap: 300 rows that only the replica's relay log has"
	sc.shows = "Its SQL thread is stopped, and the primary has purged its binary logs. CHANGE MASTER would throw the rows away; seedmend sends nothing until they are applied."
	sc.mend = func(ctx context.Context, r *result) error {
		stop := s.wait("working")
		defer stop()
		p, err := s.startPair(ctx)
		if err != nil {
			return err
		}
		if err := p.begin(ctx, r, 0); err != nil {
			return err
		}
		if err := p.fill(ctx, 300); err != nil {
			return err
		}
		password, err := p.rotate(ctx)
		if err != nil {
			return err
		}
		broken := time.Now()
		if err := p.publish(ctx, password); err != nil {
			return err
		}
		e, err := p.becomes(ctx, api.RelayLogNotApplied)
		if err != nil {
			return err
		}
		r.got, r.message = api.Reason(e.Reason), e.Message
		sent, err := p.sent(ctx)
		if err != nil {
			return err
		}
		r.expect(len(sent) == 0, "it was sent %s", strings.Join(sent, ", "))
		s.item("refused, nothing was sent: %s", e.Message)
		if err := p.on(ctx, p.replica, "START SLAVE SQL_THREAD"); err != nil {
			return err
		}
		s.item("the SQL thread has been started by a person")
		e, err = p.becomes(ctx, api.ReasonRepaired)
		if err != nil {
			return err
		}
		r.took = time.Since(broken)
		r.shown("then mended by itself: %s", e.Message)
		return p.finish(ctx, r, r.message)
	}
	return sc
}

// begin waits for a healthy pair with n rows more, and listens to the replica.
func (p *pair) begin(ctx context.Context, r *result, n int) error {
	r.link, r.mended = p.workflowLink(api.ReplicaWorkflowID(replicaRef())), true
	if n > 0 {
		if err := p.write(ctx, n); err != nil {
			return err
		}
	}
	if _, err := p.becomes(ctx, api.ReasonReplicating); err != nil {
		return err
	}
	return errors.Join(p.allArrived(ctx), p.replica.ResetGeneralLog(ctx))
}

// fill leaves n rows in the replica's relay log, and nowhere else.
func (p *pair) fill(ctx context.Context, n int) error {
	if err := errors.Join(p.on(ctx, p.replica, "STOP SLAVE SQL_THREAD"), p.write(ctx, n)); err != nil {
		return err
	}
	var want string
	if err := p.primary.DB().QueryRowContext(ctx, "SELECT @@gtid_binlog_pos").Scan(&want); err != nil {
		return err
	}
	for {
		status, err := p.replica.ReplicaStatus(ctx, "")
		if err != nil {
			return err
		}
		if status["Gtid_IO_Pos"] == want {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	if err := p.on(ctx, p.primary, "FLUSH BINARY LOGS"); err != nil {
		return err
	}
	var file, position, a, b string
	if err := p.primary.DB().QueryRowContext(ctx, "SHOW MASTER STATUS").Scan(&file, &position, &a, &b); err != nil {
		return err
	}
	p.item("300 rows are in the replica's relay log; the primary keeps %s only", file)
	// A file that a replica is still in is not purged.
	return stage.Eventually(ctx, func() error {
		if err := p.on(ctx, p.primary, "PURGE BINARY LOGS TO '"+file+"'"); err != nil {
			return err
		}
		first := ""
		var size string
		if err := p.primary.DB().QueryRowContext(ctx, "SHOW BINARY LOGS").Scan(&first, &size); err != nil {
			return err
		}
		if first != file {
			return fmt.Errorf("%s is still there", first)
		}
		return nil
	})
}

// finish checks that every row has arrived, and what was sent.
func (p *pair) finish(ctx context.Context, r *result, message string) error {
	if r.got == "" {
		r.got, r.message = api.ReasonRepaired, message
	}
	r.expect(r.got == r.want, "the outcome is %s, not %s", r.got, r.want)
	if err := p.allArrived(ctx); err != nil {
		return err
	}
	r.shown("all %d rows are on the replica", p.rows)
	sent, err := p.sent(ctx)
	if err != nil {
		return err
	}
	r.expect(strings.Join(sent, " ") == "STOP CHANGE START", "it was sent %q", sent)
	r.shown("what it was sent, beside reads: %s", strings.Join(sent, ", "))
	return nil
}
