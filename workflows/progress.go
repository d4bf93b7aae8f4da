package workflows

import (
	"fmt"
	"strings"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/seedmend/seedmend/api"
)

func (r *run) phase(p string) {
	r.progress.Phase = p
	r.show()
}

func (r *run) note(name, result string) {
	r.progress.Steps = append(r.progress.Steps, api.Step{Name: name, Result: result})
	r.show()
}

func (r *run) retrying(name string, err error) {
	r.phase(api.PhaseRetrying)
	r.note(name, "soft failure, goes on by itself: "+cause(err))
}

// show renders the run's current details, which the UI displays as Markdown.
func (r *run) show() {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** %s\n\n| step | result |\n| --- | --- |\n", r.progress.Phase, code(r.progress.Request))
	for _, s := range r.progress.Steps {
		fmt.Fprintf(&b, "| %s | %s |\n", s.Name, cell(s.Result))
	}
	fmt.Fprintf(&b, "\n%s\n", next(r.progress))
	workflow.SetCurrentDetails(r.ctx, b.String())
}

func next(p api.Progress) string {
	switch p.Phase {
	case api.PhaseFailed:
		entry, _ := api.Lookup(p.Reason)
		return "**Next:** nothing by itself. " + entry.Do
	case api.PhaseReady, api.PhaseEnded:
		return "**Next:** nothing is left to do."
	case api.PhaseWaiting:
		return "**Next:** goes on when the seed Secret is there."
	case api.PhaseRetrying:
		return "**Next:** the pending activity shows attempt, cause and the next try."
	default:
		return "**Next:** the steps that are left."
	}
}

func code(s string) string { return "`" + strings.ReplaceAll(s, "`", "'") + "`" }

// cell keeps a value inside its table cell.
func cell(s string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "`", "'").Replace(s)
}

func admitted(adm api.Admission) string {
	if adm.Ended != "" {
		return adm.Ended
	}
	t := adm.Target
	from := "seed Secret "
	if t.Source.Output {
		from = "own Secret "
	}
	return fmt.Sprintf("%s%s matches provider %s, connection %s", from, t.Source.Name, t.Connection.Provider, t.Connection.Connection)
}

func findings(f api.Facts) string {
	parts := []string{
		"login " + string(f.Auth),
		"database " + existence(f.DatabaseExists),
		"user " + existence(f.UserExists),
	}
	if f.Access != "" {
		parts = append(parts, "access "+string(f.Access))
	}
	if f.Claim != nil {
		parts = append(parts, "claim "+f.Claim.Origin+"/"+f.Claim.Phase)
	}
	return strings.Join(parts, ", ")
}

func existence(there bool) string {
	if there {
		return "exists"
	}
	return "missing"
}

var (
	keyProvider = temporal.NewSearchAttributeKeyKeyword(api.AttributeProvider)
	keyPhase    = temporal.NewSearchAttributeKeyKeyword(api.AttributePhase)
	keyReason   = temporal.NewSearchAttributeKeyKeyword(api.AttributeReason)
)

// upsert sets the search attributes once, at the end: each call is an event.
func (r *run) upsert(reason api.Reason) {
	if !r.attributes {
		return
	}
	updates := []temporal.SearchAttributeUpdate{keyPhase.ValueSet(r.progress.Phase), keyReason.ValueSet(string(reason))}
	if r.provider != "" {
		updates = append(updates, keyProvider.ValueSet(r.provider))
	}
	if err := workflow.UpsertTypedSearchAttributes(r.ctx, updates...); err != nil {
		workflow.GetLogger(r.ctx).Warn("search attributes not set", "error", err)
	}
}
