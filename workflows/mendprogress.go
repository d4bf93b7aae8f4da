package workflows

import (
	"fmt"
	"strings"

	"go.temporal.io/sdk/workflow"

	"github.com/seedmend/seedmend/api"
)

func (m *mending) phase(p string) {
	m.progress.Phase = p
	m.show()
}

// mostSteps is how many steps a progress shows; a run may last for weeks.
const mostSteps = 30

func (m *mending) note(name, result string) {
	m.progress.Steps = append(m.progress.Steps, api.Step{Name: name, Result: result})
	if over := len(m.progress.Steps) - mostSteps; over > 0 {
		m.progress.Steps = m.progress.Steps[over:]
	}
	m.show()
}

// seen notes a look that found something else than the one before.
func (m *mending) seen(c api.Channel) {
	found := fmt.Sprintf("IO %s (%d), SQL %s (%d), user %s", c.IO, c.IOErrno, yes(c.SQL), c.SQLErrno, c.User)
	for i := len(m.progress.Steps) - 1; i >= 0; i-- {
		if s := m.progress.Steps[i]; s.Name == "Look" {
			if s.Result == found {
				return
			}
			break
		}
	}
	m.note("Look", found)
}

func yes(b bool) string {
	if b {
		return "Yes"
	}
	return "No"
}

func (m *mending) show() {
	p := m.progress
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** %s\n\n", p.Phase, code(p.Replica))
	if p.Message != "" {
		fmt.Fprintf(&b, "%s\n\n", cell(p.Message))
	}
	if p.Position != "" {
		fmt.Fprintf(&b, "Received up to %s.\n\n", code(p.Position))
	}
	b.WriteString("| step | result |\n| --- | --- |\n")
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "| %s | %s |\n", s.Name, cell(s.Result))
	}
	fmt.Fprintf(&b, "\n%s\n", m.next())
	workflow.SetCurrentDetails(m.ctx, b.String())
}

func (m *mending) next() string {
	p := m.progress
	switch {
	case p.Phase == api.PhaseThreshold && !p.Until.IsZero():
		return fmt.Sprintf("**Next:** credentials are proven and changed at %s, unless the error clears. The update `%s` skips or changes this wait.", clock(p.Until), api.UpdateWait)
	case p.Phase == api.PhasePaused && !p.Until.IsZero():
		entry, _ := api.Lookup(p.Reason)
		return fmt.Sprintf("**Next:** another look at %s, or at once when something changes. %s", clock(p.Until), entry.Do)
	case p.Phase == api.PhaseFailed:
		entry, _ := api.Lookup(p.Reason)
		return "**Next:** nothing by itself. " + entry.Do
	case p.Phase == api.PhaseRepaired, p.Phase == api.PhaseEnded, p.Phase == api.PhaseHandsOff:
		return "**Next:** nothing is left to do."
	}
	return "**Next:** the steps that are left."
}

// upsert sets the search attributes.
func (m *mending) upsert() {
	if !m.attributes {
		return
	}
	if err := workflow.UpsertTypedSearchAttributes(m.ctx, keyPhase.ValueSet(m.progress.Phase), keyReason.ValueSet(string(m.progress.Reason))); err != nil {
		workflow.GetLogger(m.ctx).Warn("search attributes not set", "error", err)
	}
}
