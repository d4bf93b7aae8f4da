package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/seedmend/seedmend/api"
)

// A step is first tried inside the workflow task. These bounds keep a step that
// is not quick from holding the task: it times out after 10 s, and the SDK warns
// of one that takes 5 s. Two tries, a quarter of a second apart, cover a dropped
// connection.
const (
	quickTimeout = 3 * time.Second
	quickTotal   = 4500 * time.Millisecond
)

func quick() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{
		InitialInterval:        250 * time.Millisecond,
		MaximumAttempts:        2,
		NonRetryableErrorTypes: neverRetried(),
	}
}

// patientTimeout bounds one try of a regular activity: a creation waits up to
// 10 s for its lock and 10 s for each statement.
const patientTimeout = time.Minute

// patient is for a step that failed softly; api has the reasons for its numbers.
// The deadline is the activity's schedule-to-close timeout.
func patient() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{
		InitialInterval:        api.PatienceInitial,
		BackoffCoefficient:     api.PatienceCoefficient,
		MaximumInterval:        api.PatienceMaximum,
		NonRetryableErrorTypes: neverRetried(),
	}
}

// neverRetried are the hard failures, and SeedChanged, which the workflow
// answers by starting over.
func neverRetried() []string {
	return append(api.HardReasons(), string(api.SeedChanged))
}

// seedPauses are the pauses between looks for a seed Secret that does not exist
// yet: short at first, since it is usually applied in the same breath as the
// request. The last one repeats.
var seedPauses = []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second}

// mostPasses bounds the passes of one run before it continues as new.
const mostPasses = 20

// mostRestarts bounds how often one pass starts over because its seed changed.
const mostRestarts = 5
