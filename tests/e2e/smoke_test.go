package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/seedmend/seedmend/tests/stage"
	"github.com/stretchr/testify/require"
)

func TestSmoke(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	m := shared.Servers["one"]
	require.NoError(t, shared.Namespace(ctx, "smoke"))
	require.NoError(t, shared.Secret(ctx, "smoke", "db-seed", stage.SeedFor(m, "smoke_db", "smoke_user", "pässword'\"\\")))
	start := time.Now()
	_, err := shared.Request(ctx, "smoke", "db")
	require.NoError(t, err)
	r, err := shared.Settled(ctx, "smoke", "db")
	require.NoError(t, err)
	t.Logf("%s %+v", time.Since(start), r.Status)
	code, out, errs := shared.Command(ctx, "status")
	t.Log(code, out, errs)
	code, out, errs = shared.Command(ctx, "explain", "smoke/db")
	t.Log(code, out, errs)
	code, out, errs = shared.Command(ctx, "retry", "smoke/db")
	t.Log(code, out, errs)
	t.Log(running.Log())
}
