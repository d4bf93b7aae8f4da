package e2e

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/tests/lab"
)

// row is one line of the decision table: a state of the world, and what a
// request must come to in it.
type row struct {
	id string // the namespace, and the beginning of all names
	on string // the server; "one" by default

	// given turns the tenant's default (a seed on development, for what does not
	// exist) into the row's case. It runs before anything is made.
	given func(x *tenant)
	// server are statements that make the server's state.
	server []string
	// and makes what else there is to be, after the seed and before the request.
	and func(t *testing.T, x *tenant)

	// reason is the one of the Ready condition. A success has a verdict as well.
	reason  api.Reason
	verdict api.Verdict
	// says are pieces of the message; never are pieces of it that would tell too much.
	says, never []string
	// leaves is what is added to the server; nothing, as a rule, for a failure.
	leaves func(t *testing.T, x *tenant) additions
	// finally are further checks.
	finally func(t *testing.T, x *tenant)

	x *tenant
}

// adds is what a row adds to its server.
func (r *row) adds(t *testing.T) additions {
	switch {
	case r.leaves != nil:
		return r.leaves(t, r.x)
	case r.verdict == api.VerdictAdopt:
		return r.x.adopted(t)
	case r.verdict == api.VerdictCreate:
		return r.x.created(t)
	}
	return nil
}

func (r *row) check(t *testing.T, diff changes) {
	if r.verdict == "" {
		r.x.assertFailed(t, r.reason, r.says...)
	} else {
		r.x.assertReady(t, r.reason, r.verdict)
		if r.x.notes[api.AnnotationKeepSeed] == "true" {
			r.x.assertSeedUntouched(t)
		} else {
			r.x.assertSeedGone(t)
		}
	}
	for _, c := range r.x.request(t).Status.Conditions {
		for _, secret := range append(r.never, r.x.password, r.x.other) {
			assert.NotContains(t, c.Message, secret)
		}
	}
	want := r.adds(t)
	got := diff.about(r.names()...)
	for key, each := range diff {
		if _, wanted := want[key]; wanted {
			got[key] = each
		}
	}
	assertAdded(t, want, got)
	if r.verdict != "" {
		r.x.logsIn(t)
	}
	if r.finally != nil {
		r.finally(t, r.x)
	}
}

// names that are the row's alone.
func (r *row) names() []string {
	var names []string
	for _, n := range []string{r.x.database, pattern(r.x.database), r.x.user} {
		if strings.HasPrefix(n, r.id) || strings.HasPrefix(n, strings.ReplaceAll(r.id, "-", "_")) {
			names = append(names, n)
		}
	}
	return names
}

// decide plays all rows at once, and compares the servers as a whole before and
// after: what a row does to somebody else's things shows as well.
func decide(t *testing.T, g *ground, table map[string]row) {
	rows := map[string]*row{}
	servers := map[string]*lab.MariaDB{}
	ids := map[string]bool{}
	for sentence, r := range table {
		if r.on == "" {
			r.on = "one"
		}
		require.False(t, ids[r.id], "two rows have the id %s", r.id)
		ids[r.id] = true
		r.x = g.tenant(r.id, r.on)
		if r.given != nil {
			r.given(r.x)
		}
		rows[sentence] = &r
		servers[r.on] = r.x.on
	}
	each := func(what string, do func(ctx context.Context, r *row) error) {
		t.Helper()
		group, ctx := errgroup.WithContext(within(t, 2*patience))
		group.SetLimit(8)
		for _, sentence := range slices.Sorted(maps.Keys(rows)) {
			group.Go(func() error { return do(ctx, rows[sentence]) })
		}
		require.NoError(t, group.Wait(), what)
	}
	each("arrange", func(ctx context.Context, r *row) error {
		if err := r.x.arrange(ctx, r.server...); err != nil {
			return err
		}
		return r.x.sow(ctx)
	})
	for _, sentence := range slices.Sorted(maps.Keys(rows)) {
		if r := rows[sentence]; r.and != nil {
			r.and(t, r.x)
		}
	}
	before := map[string]serverState{}
	for name, m := range servers {
		before[name] = snapshot(t, m)
	}
	each("ask", func(ctx context.Context, r *row) error { return r.x.ask(ctx) })
	for _, sentence := range slices.Sorted(maps.Keys(rows)) {
		rows[sentence].x.settled(t)
	}
	diffs := map[string]changes{}
	for name, m := range servers {
		diffs[name] = snapshot(t, m).since(before[name])
	}
	for _, sentence := range slices.Sorted(maps.Keys(rows)) {
		r := rows[sentence]
		t.Run(sentence, func(t *testing.T) { r.check(t, diffs[r.on]) })
	}
	t.Run("and nothing else has changed", func(t *testing.T) {
		for _, r := range rows {
			for key := range r.adds(t) {
				delete(diffs[r.on], key)
			}
		}
		for name, m := range servers {
			// The table of claims is made with the first one.
			delete(diffs[name], "database seedmend")
			delete(diffs[name], "table seedmend.claims")
			assert.Empty(t, diffs[name], "on %s:\n%s", m.Name, diffs[name])
		}
	})
}

func TestDecisions(t *testing.T) {
	t.Parallel()
	trap := newTrap(t)
	decide(t, shared, func() map[string]row {
		all := map[string]row{}
		for _, part := range []map[string]row{verdicts(t), accounts(), names(), seeds(trap), outputs(t, trap), providers(t, trap), admins(t), oddities(t)} {
			for sentence, r := range part {
				_, twice := all[sentence]
				require.False(t, twice, sentence)
				all[sentence] = r
			}
		}
		return all
	}())
	assert.Zero(t, trap.calls(), "connections to a host whose turn had not come")
}

// Every hard reason has a row somewhere; one that is new must get one.
func TestEveryHardReasonHasARow(t *testing.T) {
	trap := &trap{port: 1}
	seen := map[string]bool{}
	for _, part := range []map[string]row{verdicts(t), accounts(), names(), seeds(trap), outputs(t, trap), providers(nil, trap), admins(nil), oddities(nil), tuned(nil)} {
		for _, r := range part {
			seen[string(r.reason)] = true
		}
	}
	// Only a server with a dialect of its own brings this up: see package mysql.
	seen[string(api.StatementRejected)] = true
	// It is about replicas.
	seen[string(api.PasswordTooLong)] = true
	for _, reason := range api.HardReasons() {
		assert.True(t, seen[reason], "no row ends in %s", reason)
	}
}

// assertOperatorOnly: what only the workflow's failure tells.
func (x *tenant) assertOperatorOnly(t *testing.T, text string) {
	t.Helper()
	events := x.events(t)
	f := events[len(events)-1].GetWorkflowExecutionFailedEventAttributes().GetFailure()
	assert.Contains(t, f.GetMessage(), text, "the workflow's failure tells it")
	for _, c := range x.request(t).Status.Conditions {
		assert.NotContains(t, c.Message, text, "the status does not")
	}
	list, err := x.g.Client.Kube.CoreV1().Events(x.namespace).List(within(t, patience), everyEvent)
	require.NoError(t, err)
	for _, e := range list.Items {
		assert.NotContains(t, e.Message, text, "nor do events")
	}
}

// putSecret makes a Secret of somebody else's.
func (x *tenant) putSecret(t *testing.T, namespace, name string, annotations map[string]string, data map[string]string) *corev1.Secret {
	t.Helper()
	ctx := within(t, patience)
	require.NoError(t, x.g.Namespace(ctx, namespace))
	s := &corev1.Secret{StringData: data}
	s.Namespace, s.Name, s.Annotations = namespace, name, annotations
	s, err := x.g.Client.Kube.CoreV1().Secrets(namespace).Create(ctx, s, createNow)
	require.NoError(t, err)
	return s
}
