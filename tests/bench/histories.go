package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/seedmend/seedmend/api"
)

// histories are the sizes of the workflows' histories, for each request.
type histories struct {
	Events, Bytes       float64
	MostEvents, MostKiB float64
}

// histories waits for the end of each workflow, which comes after Ready.
func (b *bench) histories(ctx context.Context, all []order) (histories, error) {
	var mu sync.Mutex
	var h histories
	err := atOnce(ctx, 8, all, func(ctx context.Context, o order) error {
		events, bytes, err := b.history(ctx, api.DatabaseWorkflowID(o.namespace, o.name))
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		h.Events += events / float64(len(all))
		h.Bytes += bytes / float64(len(all))
		h.MostEvents, h.MostKiB = max(h.MostEvents, events), max(h.MostKiB, bytes/1024)
		return nil
	})
	return h, err
}

func (b *bench) history(ctx context.Context, id string) (events, bytes float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		d, err := b.stage.Workflows.DescribeWorkflow(ctx, id, "")
		if err != nil {
			return 0, 0, err
		}
		info := d.RawResponse.GetWorkflowExecutionInfo()
		switch info.GetStatus() {
		case enums.WORKFLOW_EXECUTION_STATUS_COMPLETED:
			return float64(info.GetHistoryLength()), float64(info.GetHistorySizeBytes()), nil
		case enums.WORKFLOW_EXECUTION_STATUS_RUNNING:
			pause(ctx, 20*time.Millisecond)
		default:
			return 0, 0, fmt.Errorf("workflow %s ended with %s", id, info.GetStatus())
		}
	}
}

// workflowCount counts all runs that Temporal knows.
func (b *bench) workflowCount(ctx context.Context) (int64, error) {
	c, err := b.stage.Workflows.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: "default"})
	return c.GetCount(), err
}
