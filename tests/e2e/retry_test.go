package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seedmend/seedmend/api"
)

// F33: a hard failure is one attempt; what a person does to the seed or to
// labels starts nothing, and what a person does to say "again" starts one run.
func TestF33OnlyAPersonRetries(t *testing.T) {
	t.Parallel()
	again := map[string]func(t *testing.T, x *tenant){
		"f33-forced": func(t *testing.T, x *tenant) { x.force(t) },
		"f33-spec":   func(t *testing.T, x *tenant) { x.patch(t, `{"spec":{"dropDatabaseOnDelete":false}}`) },
		"f33-command": func(t *testing.T, x *tenant) {
			code, out, errs := shared.command(t, "retry", x.key())
			assert.Zero(t, code, "%s%s", out, errs)
			assert.Contains(t, out, "adopted")
		},
		"f33-label": nil,
	}
	all := map[string]*tenant{}
	for id := range again {
		x := shared.tenant(id, "two")
		x.seed["password"] = x.other
		x.play(t, everything...)
		all[id] = x
	}
	before := snapshot(t, shared.Servers["two"])
	for _, x := range all {
		x.assertFailed(t, api.CredentialsRejected)
		assertAdded(t, nil, x.diff(t, before))
		assert.Equal(t, 1, logins(t, x.on, x.user), "%s: one attempt", x.namespace)
		assert.Len(t, x.runs(t), 1)
	}

	// The seed is mended, which is not for us to judge; labels are touched.
	for id, x := range all {
		if again[id] != nil {
			x.mend(t, map[string]string{"password": x.password})
		} else {
			x.patch(t, `{"metadata":{"labels":{"touched":"yes"},"annotations":{"touched":"yes"}}}`)
		}
	}
	quietly(t, shared, all)
	for id, x := range all {
		assert.Equal(t, 1, logins(t, x.on, x.user), id)
	}

	for id, do := range again {
		x := all[id]
		if do == nil {
			// Still wrong: the command says so, and how.
			code, _, errs := shared.command(t, "retry", x.key())
			assert.Equal(t, 2, code)
			lines := strings.Split(strings.TrimSpace(errs), "\n")
			assert.Equal(t, string(api.CredentialsRejected), lines[len(lines)-1])
			assert.Len(t, x.runs(t), 2)
			assert.Equal(t, 2, logins(t, x.on, x.user), "one more")
			continue
		}
		before := snapshot(t, x.on)
		do(t, x)
		x.assertReady(t, api.ReasonAdopted, api.VerdictAdopt)
		assertAdded(t, x.adopted(t), x.diff(t, before))
		assert.Len(t, x.runs(t), 2, "%s: a new run of the same workflow", id)
		x.assertSeedGone(t)
		x.logsIn(t)
	}
}
