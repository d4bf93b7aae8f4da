package api

import (
	"fmt"
	"strings"
)

// Runbook renders the failure table as Markdown; docs/runbook.md is its output.
func Runbook() string {
	var b strings.Builder
	b.WriteString("# Runbook\n\nEvery reason that a condition, an event, a workflow failure or a command can give.\n" +
		"Generated from the failure table in `api/reason.go` (`make generate`).\n")
	for _, part := range []struct {
		title string
		hard  bool
	}{
		{"Hard: nothing goes on by itself\n\nReady is False and Error is True with the reason. After mending the cause, retry with\n" +
			"`seedmend retry NAMESPACE/NAME`, with a new `spec.forcedReconcilation`, or with any other change of the spec.", true},
		{"Soft: goes on by itself\n\nReady is False with reason Retrying; the message has attempt, cause and next try. After the\n" +
			"deadline (`--deadline`, 1 h) the request fails with ProviderUnreachable.", false},
	} {
		fmt.Fprintf(&b, "\n## %s\n", part.title)
		for _, e := range table {
			if e.Hard == part.hard {
				fmt.Fprintf(&b, "\n### %s\n\n%s\n\n**Do:** %s\n", e.Reason, e.Means, e.Do)
			}
		}
	}
	return b.String()
}
