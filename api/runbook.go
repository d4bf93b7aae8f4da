package api

import (
	"fmt"
	"strings"
)

// Runbook renders the failure table as Markdown; docs/runbook.md is its output.
func Runbook() string {
	var b strings.Builder
	b.WriteString("# Runbook\n\nEvery reason that a condition, an event, a workflow failure or a command can give.\n" +
		"Generated from the failure table in `api/reason.go` and\n`api/mendreason.go` (`make generate`).\n")
	for _, part := range []struct {
		title string
		table []Entry
		hard  bool
	}{
		{"Hard: nothing goes on by itself\n\nReady is False and Error is True with the reason. After mending the cause, retry with\n" +
			"`seedmend retry NAMESPACE/NAME`, with a new `spec.forcedReconcilation`, or with any other change of the spec.", table, true},
		{"Soft: goes on by itself\n\nReady is False with reason Retrying; the message has attempt, cause and next try. After the\n" +
			"deadline (`--deadline`, 1 h) the request fails with ProviderUnreachable.", table, false},
		{"Replicas, hard: tried again only when something has changed\n\nThe repair's workflow fails. It is started again when the resource or the replication\n" +
			"Secret changes, or with `seedmend repair`.", mendTable, true},
		{"Replicas: looked at again by itself\n\nThe replica is left as it is until the cause is gone. What a repair does is told in\n" +
			"[mend.md](mend.md).", mendTable, false},
	} {
		fmt.Fprintf(&b, "\n## %s\n", part.title)
		for _, e := range part.table {
			if e.Hard == part.hard {
				fmt.Fprintf(&b, "\n### %s\n\n%s\n\n**Do:** %s\n", e.Reason, e.Means, e.Do)
			}
		}
	}
	return b.String()
}
