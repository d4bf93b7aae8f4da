// Package replay holds recorded histories: what runs in the field today has to
// replay on the workflows of tomorrow.
package replay

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdklog "go.temporal.io/sdk/log"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/workflows"
)

// atLeast guards the corpus: histories are added, never taken away.
const atLeast = 18

func TestRecordedHistoriesReplay(t *testing.T) {
	files, err := filepath.Glob("histories/*.json")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), atLeast, "histories are missing")
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			assert.NoError(t, replay(file, workflows.ReconcileDatabase))
		})
	}
}

// The replay has to be able to fail: the same histories do not fit a workflow
// that does nothing.
func TestAChangedWorkflowIsNoticed(t *testing.T) {
	idle := func(workflow.Context, api.ReconcileInput) (api.ReconcileResult, error) {
		return api.ReconcileResult{}, nil
	}
	assert.Error(t, replay("histories/created.json", idle))
}

func replay(file string, reconcile any) error {
	replayer := sdk.NewWorkflowReplayer()
	replayer.RegisterWorkflowWithOptions(reconcile, workflow.RegisterOptions{Name: api.WorkflowReconcileDatabase})
	replayer.RegisterWorkflowWithOptions(workflows.ExplainSeed, workflow.RegisterOptions{Name: api.WorkflowExplainSeed})
	replayer.RegisterWorkflowWithOptions(workflows.RepairReplicaAuth, workflow.RegisterOptions{Name: api.WorkflowRepairReplicaAuth})
	replayer.RegisterWorkflowWithOptions(workflows.ExplainReplica, workflow.RegisterOptions{Name: api.WorkflowExplainReplica})
	return replayer.ReplayWorkflowHistoryFromJSONFile(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)), file)
}
