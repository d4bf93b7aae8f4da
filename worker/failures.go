package worker

import (
	"context"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"github.com/seedmend/seedmend/api"
)

// failures makes sure that what leaves an activity or a workflow is typed at
// its top level: Temporal reads type and retryability there only, and a wrap by
// fmt.Errorf would lose both.
type failures struct {
	interceptor.WorkerInterceptorBase
}

func (*failures) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &activityFailures{interceptor.ActivityInboundInterceptorBase{Next: next}}
}

func (*failures) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &workflowFailures{interceptor.WorkflowInboundInterceptorBase{Next: next}}
}

type activityFailures struct {
	interceptor.ActivityInboundInterceptorBase
}

func (a *activityFailures) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	out, err := a.Next.ExecuteActivity(ctx, in)
	return out, api.ToTemporal(err)
}

type workflowFailures struct {
	interceptor.WorkflowInboundInterceptorBase
}

func (w *workflowFailures) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	out, err := w.Next.ExecuteWorkflow(ctx, in)
	return out, api.ToTemporal(err)
}
