package crash

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/tests/stage"
)

// away is how long a part is gone, as the issue asks.
const away = 20 * time.Second

func TestMariaDBAwayForTwentySeconds(t *testing.T) {
	p := ready(t)
	require.NoError(t, server.Stop(t.Context()))
	orders := place(t, "nodb", 10)
	eventually(t, time.Minute, "the status tells about the retries", func() bool {
		r, err := on.Get(t.Context(), "nodb", "db-00")
		return err == nil && len(r.Status.Conditions) > 0 && r.Status.Conditions[0].Reason == "Retrying" &&
			strings.Contains(r.Status.Conditions[0].Message, "attempt") && strings.Contains(r.Status.Conditions[0].Message, "next try at")
	})
	pass(t, away)
	require.NoError(t, server.Start(t.Context()))
	delivered(t, orders, 3*time.Minute)
	assertNoFlood(t, p, len(orders))
}

func TestKubeAPIAwayForTwentySeconds(t *testing.T) {
	p := ready(t)
	orders := place(t, "noapi", 10)
	require.NoError(t, on.Kube.Kill()) // in order, it would wait a minute for our watches
	pass(t, away)
	require.NoError(t, on.Kube.Start(t.Context()))
	delivered(t, orders, 3*time.Minute)
	assertNoFlood(t, p, len(orders))
}

func TestTemporalAwayForTwentySeconds(t *testing.T) {
	p := ready(t)
	orders := place(t, "noflow", 10)
	require.NoError(t, on.Temporal.Stop(t.Context()))
	pass(t, away)
	require.NoError(t, on.Temporal.Start(t.Context()))
	delivered(t, orders, 3*time.Minute)
	assertNoFlood(t, p, len(orders))
}

// pass lets time go by: it is the outage itself.
func pass(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}

// assertNoFlood allows a line a request a minute, and some for the process.
func assertNoFlood(t *testing.T, p *stage.Process, requests int) {
	t.Helper()
	log := p.Log()
	lines := strings.Count(log, "\n")
	assert.LessOrEqual(t, lines, 4*requests+40, "the log floods:\n%s", log)
	t.Logf("%d lines of log", lines)

}
