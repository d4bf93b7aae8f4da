package mend

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/mendv1alpha1"
)

func TestAnErrorThatClearsInTimeSendsNothing(t *testing.T) {
	t.Parallel()
	h := newHerd(t, "cleared", herdOptions{threshold: 15 * time.Second})
	h.listen(t, 0)
	_, _ = h.rotate(t, 0)
	h.becomes(t, 0, api.ReasonThreshold)
	h.restore(t)
	h.runs(t, 0)
	h.becomes(t, 0, api.ReasonReplicating)
	result, err := h.result(t, 0)
	require.NoError(t, err, "quiet: no failure")
	assert.Equal(t, api.OutcomeNothing, result.Outcome)
	h.assertNothingSent(t, 0)
}

func TestAWithdrawnOptInEndsTheRun(t *testing.T) {
	t.Parallel()
	h := newHerd(t, "withdrawn", herdOptions{threshold: 15 * time.Second})
	h.listen(t, 0)
	password, _ := h.rotate(t, 0)
	h.publish(t, password)
	h.becomes(t, 0, api.ReasonThreshold)
	h.edit(t, func(g *mendv1alpha1.ReplicationGroup) { g.Spec.Recovery.ReconnectOnAuthError = false })
	h.becomes(t, 0, api.RepairOff)
	result, err := h.result(t, 0)
	require.NoError(t, err)
	assert.Equal(t, api.OutcomeNothing, result.Outcome)
	h.assertNothingSent(t, 0)
}

// Both ways round: the Secret is put right, or the primary's account is.
func TestAWrongSecretIsNotSent(t *testing.T) {
	other := vault.Password()
	for name, mend := range map[string]func(t *testing.T, h *herd, password string){
		"secret": func(t *testing.T, h *herd, password string) { h.publish(t, password) },
		"account": func(t *testing.T, h *herd, _ string) {
			_, err := h.primary.Rotate(within(t, patience), "repl", other)
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHerd(t, "mismatch-"+name, herdOptions{threshold: time.Second})
			h.listen(t, 0)
			h.publish(t, other)
			password, _ := h.rotate(t, 0)
			e := h.becomes(t, 0, api.SecretMismatch)
			assert.Contains(t, e.Message, fmt.Sprintf("127.0.0.1:%d", h.primary.Port))
			assert.Contains(t, e.Message, `"replication"`)
			time.Sleep(10 * sweepEvery)
			h.assertNothingSent(t, 0)
			h.insert(t, 2, 50)
			mend(t, h, password)
			began := time.Now()
			h.becomes(t, 0, api.ReasonRepaired)
			assert.Less(t, time.Since(began), sweepEvery+5*time.Second)
			h.assertOneRepair(t, 0)
			h.runs(t, 0)
			h.caught(t, 0)
		})
	}
}

func TestASecretThatCannotBeUsedSendsNothing(t *testing.T) {
	for name, values := range map[string]map[string]string{
		"empty":   {"username": "repl", "password": ""},
		"renamed": {"username": "repl", "pass": "word"},
		"missing": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHerd(t, "unusable-"+name, herdOptions{threshold: time.Second})
			h.listen(t, 0)
			if values == nil {
				h.deleteSecret(t)
			} else {
				h.secret(t, values)
			}
			password, _ := h.rotate(t, 0)
			e := h.becomes(t, 0, api.SecretUnusable)
			assert.Contains(t, e.Message, `"replication"`)
			time.Sleep(3 * sweepEvery)
			h.assertNothingSent(t, 0)
			h.publish(t, password)
			h.becomes(t, 0, api.ReasonRepaired)
			h.assertOneRepair(t, 0)
		})
	}
}

// Errors that are not about a password, and replicas stopped by hand.
func TestHandsOff(t *testing.T) {
	t.Parallel()
	h := newHerd(t, "handsoff", herdOptions{threshold: time.Second})
	h.becomes(t, 0, api.ReasonReplicating)
	replica := h.replicas[0]
	h.listen(t, 0)
	for _, c := range []struct {
		name   string
		breaks []string
		errno  int
		reason api.Reason
	}{
		{"stopped by hand", []string{"STOP SLAVE"}, 0, api.ReplicationStopped},
		{"2003: nobody listens", []string{"STOP SLAVE", "CHANGE MASTER TO MASTER_PORT=1", "START SLAVE"}, 2003, api.IOError},
		{"2005: no such host", []string{"STOP SLAVE", "CHANGE MASTER TO MASTER_HOST='no-such-host.invalid'", "START SLAVE"}, 2005, api.IOError},
		{"2026: no TLS there", []string{"STOP SLAVE", fmt.Sprintf("CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=%d, MASTER_SSL=1, MASTER_SSL_VERIFY_SERVER_CERT=1", h.primary.Port), "START SLAVE"}, 2026, api.IOError},
		{"1236: what is asked for is not there", []string{"STOP SLAVE", "CHANGE MASTER TO MASTER_SSL=0, MASTER_SSL_VERIFY_SERVER_CERT=0, MASTER_USE_GTID=no, MASTER_LOG_FILE='binlog.000099', MASTER_LOG_POS=4", "START SLAVE"}, 1236, api.IOError},
	} {
		h.exec(t, replica, c.breaks...)
		e := h.becomes(t, 0, c.reason)
		for e.IOErrno != int32(c.errno) {
			e = h.becomes(t, 0, c.reason)
			time.Sleep(100 * time.Millisecond)
			if t.Context().Err() != nil || t.Failed() {
				return
			}
		}
		time.Sleep(3 * sweepEvery)
		h.assertNothingSent(t, 0)
		t.Log(c.name, "is left alone:", e.Message)
	}
	assert.Zero(t, h.histories(t), "no run was started")
}

func TestAnotherServerIsNotGivenThePassword(t *testing.T) {
	t.Parallel()
	h := newHerd(t, "elsewhere", herdOptions{threshold: time.Second, change: func(g *mendv1alpha1.ReplicationGroup) {
		g.Spec.Primary.Host = "localhost" // the same server by another name is told by its ID
	}})
	other := newHerd(t, "elsewhere2", herdOptions{})
	h.edit(t, func(g *mendv1alpha1.ReplicationGroup) { g.Spec.Primary.Port = int32(other.primary.Port) })
	h.exec(t, other.primary, "CREATE USER IF NOT EXISTS seedmend@'%' IDENTIFIED BY ''", "ALTER USER seedmend@'%' IDENTIFIED BY '"+h.admin+"'")
	h.listen(t, 0)
	password, _ := h.rotate(t, 0)
	h.exec(t, other.primary, "ALTER USER repl@'%' IDENTIFIED BY '"+password+"'")
	h.publish(t, password)
	h.becomes(t, 0, api.PrimaryMismatch)
	h.assertNothingSent(t, 0)
}
