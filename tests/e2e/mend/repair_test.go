package mend

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
)

func TestAStuckReplicaIsMendedAfterTheThresholdAndNotBefore(t *testing.T) {
	t.Parallel()
	h := newHerd(t, "threshold", herdOptions{})
	h.becomes(t, 0, api.ReasonReplicating)
	before := h.runs(t, 0)
	h.listen(t, 0)
	password, broken := h.rotate(t, 0)
	h.publish(t, password)
	h.insert(t, 2, 300)
	h.becomes(t, 0, api.ReasonThreshold)
	h.assertNothingSent(t, 0)
	e := h.becomes(t, 0, api.ReasonRepaired)
	assert.Greater(t, time.Since(broken), threshold)
	require.NotNil(t, e.LastRepair)
	h.assertOneRepair(t, 0)
	after := h.runs(t, 0)
	h.caught(t, 0)
	for _, field := range []string{"Using_Gtid", "Connect_Retry", "Slave_heartbeat_period", "SQL_Delay", "Master_SSL_Allowed", "Replicate_Do_DB", "Replicate_Ignore_Server_Ids", "Master_Host", "Master_Port", "Master_User"} {
		assert.Equal(t, before[field], after[field], field)
	}
	result, err := h.result(t, 0)
	require.NoError(t, err)
	assert.Equal(t, api.OutcomeRepaired, result.Outcome)
	h.becomes(t, 0, api.ReasonReplicating)
}
