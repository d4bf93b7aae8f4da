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
	b.WriteString(states)
	return b.String()
}

const states = `
## Replicas: what is no trouble

| reason | |
| --- | --- |
| NotSeenYet | no sweep has looked at it yet |
| Replicating | both threads run |
| WaitingForThreshold | stuck on 1045, and mended when the threshold has passed |
| Repaired | it has the current credentials and replicates; the next sweep says Replicating |

| phase | |
| --- | --- |
| Healthy, Repaired | nothing is to be done |
| Stuck | on 1045, and nothing is being done: no opt-in, or its run begins |
| Waiting | on 1045, for the threshold |
| Paused | on 1045, left as it is for the reason given, and looked at again |
| Proving, Draining, Repairing | a repair is at work |
| HandsOff | another trouble than 1045, which seedmend leaves alone |
| Failed | a repair failed for good |
| Unknown | it cannot be told; that is not healthy |
`
