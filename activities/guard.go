package activities

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/seedmend/seedmend/api"
)

// guard runs a step. It turns a passed deadline into a soft failure, and tells
// the status and the log about soft failures of regular activities, which are
// the ones that go on for long.
func guard[Out any](ctx context.Context, s *Seeder, req api.Request, do func() (Out, error)) (Out, error) {
	out, err := do()
	if err == nil {
		return out, nil
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = api.Failf(api.ServerUnreachable, "no answer in time")
	}
	var f *api.Failure
	if !errors.As(err, &f) {
		return out, err
	}
	info := activity.GetInfo(ctx)
	if f.Hard() || f.Reason == api.SeedChanged || info.IsLocalActivity {
		return out, err
	}
	message := retrying(info.Attempt, f, time.Now())
	if s.quiet.may(req.Key(), time.Now()) {
		s.Log.Warn("step failed softly", "request", req.Key(), "step", info.ActivityType.Name, "reason", f.Reason, "message", message, "operator", f.Operator)
	}
	if f.Reason != api.ClusterAPIError {
		// The status is a courtesy here: where it cannot be written, the retry goes on all the same.
		_ = s.Cluster.ApplyStatus(ctx, req, statusOf(req, api.ReasonRetrying, message, false, false))
	}
	return out, err
}

func retrying(attempt int32, f *api.Failure, now time.Time) string {
	next := now.Add(api.Backoff(attempt)).UTC().Format(time.RFC3339)
	return fmt.Sprintf("attempt %d: %s: %s; next try at %s", attempt, f.Reason, f.Message, next)
}

// quiet lets one line a request through each interval.
type quiet struct {
	interval time.Duration
	mu       *sync.Mutex
	last     map[string]time.Time
}

func newQuiet(interval time.Duration) quiet {
	return quiet{interval: interval, mu: &sync.Mutex{}, last: map[string]time.Time{}}
}

func (q quiet) may(key string, now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if now.Sub(q.last[key]) < q.interval {
		return false
	}
	q.last[key] = now
	return true
}

func (q quiet) forget(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.last, key)
}
