package mend

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/tests/stage"
)

// fetchWithoutApplying fills the replica's relay log with n rows that it has
// not applied, by what hold does to its SQL thread.
func (h *herd) fetchWithoutApplying(t *testing.T, n int) {
	t.Helper()
	h.insert(t, 2, n+1)
	h.fetched(t)
	require.Less(t, rows(t, h.replicas[0]), n+1, "the rows are not applied yet")
}

// fetched waits until the IO thread has all that the primary wrote.
func (h *herd) fetched(t *testing.T) {
	t.Helper()
	var want string
	require.NoError(t, h.primary.DB().QueryRowContext(t.Context(), "SELECT @@gtid_binlog_pos").Scan(&want))
	require.NoError(t, stage.Eventually(within(t, patience), func() error {
		s, err := h.replicas[0].ReplicaStatus(t.Context(), h.channel)
		if err == nil && s["Gtid_IO_Pos"] != want {
			err = fmt.Errorf("received %s of %s", s["Gtid_IO_Pos"], want)
		}
		return err
	}))
}

// purge leaves the primary with the file that it writes to.
func (h *herd) purge(t *testing.T) {
	t.Helper()
	h.exec(t, h.primary, "FLUSH BINARY LOGS")
	var file, position, a, b string
	require.NoError(t, h.primary.DB().QueryRowContext(t.Context(), "SHOW MASTER STATUS").Scan(&file, &position, &a, &b))
	require.NoError(t, stage.Eventually(within(t, patience), func() error {
		_, err := h.primary.DB().ExecContext(t.Context(), "PURGE BINARY LOGS TO '"+file+"'")
		if err != nil {
			return err
		}
		var n int
		rows, err := h.primary.DB().QueryContext(t.Context(), "SHOW BINARY LOGS")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			n++
		}
		if n != 1 {
			return fmt.Errorf("%d files are left", n)
		}
		return rows.Err()
	}))
}

// A repair would have lost every one of these rows: the primary does not have
// them any more.
func TestUnappliedRowsThatThePrimaryHasPurged(t *testing.T) {
	t.Run("SQL thread stopped: refused until it is started", func(t *testing.T) {
		t.Parallel()
		h := newHerd(t, "purged-stopped", herdOptions{threshold: time.Second})
		h.exec(t, h.replicas[0], "STOP SLAVE SQL_THREAD")
		h.fetchWithoutApplying(t, 300)
		h.purge(t)
		h.listen(t, 0)
		password, _ := h.rotate(t, 0)
		h.publish(t, password)
		h.becomes(t, 0, api.RelayLogNotApplied)
		time.Sleep(3 * sweepEvery)
		h.assertNothingSent(t, 0)
		h.insert(t, 1000, 1010)
		h.exec(t, h.replicas[0], "START SLAVE SQL_THREAD")
		h.becomes(t, 0, api.ReasonRepaired)
		h.assertOneRepair(t, 0)
		h.runs(t, 0)
		h.caught(t, 0)
		assert.Equal(t, 312, rows(t, h.replicas[0]))
	})
	t.Run("SQL thread at work: waited for", func(t *testing.T) {
		t.Parallel()
		h := newHerd(t, "purged-draining", herdOptions{threshold: time.Second})
		conn, err := h.replicas[0].DB().Conn(t.Context())
		require.NoError(t, err)
		defer conn.Close()
		_, err = conn.ExecContext(t.Context(), "LOCK TABLES shop.t READ")
		require.NoError(t, err)
		h.fetchUnderLock(t, 300)
		h.purge(t)
		h.listen(t, 0)
		password, _ := h.rotate(t, 0)
		h.publish(t, password)
		time.Sleep(threshold + 2*sweepEvery)
		h.assertNothingSent(t, 0)
		_, err = conn.ExecContext(t.Context(), "UNLOCK TABLES")
		require.NoError(t, err)
		h.becomes(t, 0, api.ReasonRepaired)
		h.assertOneRepair(t, 0)
		h.runs(t, 0)
		h.caught(t, 0)
		assert.Equal(t, 301, rows(t, h.replicas[0]))
	})
	t.Run("delayed: refused until the delay is over", func(t *testing.T) {
		t.Parallel()
		h := newHerd(t, "purged-delayed", herdOptions{threshold: time.Second})
		h.exec(t, h.replicas[0], "STOP SLAVE", "CHANGE MASTER TO MASTER_DELAY=25", "START SLAVE")
		h.runs(t, 0)
		h.fetchUnderLock(t, 300)
		h.purge(t)
		h.listen(t, 0)
		password, _ := h.rotate(t, 0)
		h.publish(t, password)
		h.becomes(t, 0, api.RelayLogNotApplied)
		h.assertNothingSent(t, 0)
		require.NoError(t, stage.Eventually(within(t, patience), func() error {
			if n := rows(t, h.replicas[0]); n != 301 {
				return fmt.Errorf("%d rows", n)
			}
			return nil
		}))
		h.skipWait(t, 0)
		h.becomes(t, 0, api.ReasonRepaired)
		h.assertOneRepair(t, 0)
		assert.Equal(t, "25", h.runs(t, 0)["SQL_Delay"])
	})
}

// The primary still has what is not applied, so it is fetched once more.
func TestUnappliedRowsThatThePrimaryStillHas(t *testing.T) {
	t.Parallel()
	h := newHerd(t, "kept", herdOptions{threshold: time.Second})
	h.exec(t, h.replicas[0], "STOP SLAVE SQL_THREAD")
	h.fetchWithoutApplying(t, 300)
	h.listen(t, 0)
	password, _ := h.rotate(t, 0)
	h.publish(t, password)
	h.becomes(t, 0, api.ReasonRepaired)
	h.assertOneRepair(t, 0)
	s, err := h.replicas[0].ReplicaStatus(t.Context(), "")
	require.NoError(t, err)
	assert.Equal(t, "Yes", s["Slave_IO_Running"])
	assert.Equal(t, "No", s["Slave_SQL_Running"], "it was stopped by hand, and stays so")
	h.exec(t, h.replicas[0], "START SLAVE SQL_THREAD")
	h.caught(t, 0)
	assert.Equal(t, 301, rows(t, h.replicas[0]))
}

// fetchUnderLock is fetchWithoutApplying where the SQL thread runs.
func (h *herd) fetchUnderLock(t *testing.T, n int) {
	t.Helper()
	h.insert(t, 2, n+1)
	h.fetched(t)
	require.Equal(t, 1, rows(t, h.replicas[0]), "the rows are not applied yet")
}
