package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/seedmend/seedmend/api"
)

// sweepTimeout bounds a sweep. It is below the interval between two, and far
// above the 5 s that one server may take to answer.
const sweepTimeout = 25 * time.Second

// SweepReplicas looks once at every replica. It is started by a schedule.
func SweepReplicas(ctx workflow.Context, in api.SweepInput) (api.SweepResult, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: sweepTimeout,
		HeartbeatTimeout:    beatTimeout,
		// The next sweep is the retry.
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:     "Look at every replica",
	})
	var out api.SweepResult
	err := workflow.ExecuteActivity(ctx, stepName(api.MendSteps.Sweep), in).Get(ctx, &out)
	if err == nil {
		workflow.SetCurrentDetails(ctx, fmt.Sprintf("%d replicas: %d stuck on 1045, %d unreachable; %d runs started or woken.",
			out.Replicas, out.Stuck, out.Unreachable, out.Woken))
	}
	return out, err
}
