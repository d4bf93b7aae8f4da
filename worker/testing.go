package worker

import (
	"go.temporal.io/sdk/interceptor"
	sdk "go.temporal.io/sdk/worker"
)

// TestOptions give a test environment the interceptors of a real worker that
// change what a workflow sees.
func TestOptions() sdk.Options {
	return sdk.Options{Interceptors: []interceptor.WorkerInterceptor{&failures{}}}
}
