package story

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// report prints what came of a scene.
func (s *story) report(r result) {
	if r.got != "" {
		outcome := "failed, " + string(r.got)
		if r.mended {
			outcome = string(r.got)
		} else if r.ready {
			outcome = "Ready, " + string(r.got)
		}
		s.field("outcome", outcome+": "+r.message)
		s.field("time", seconds(r.took))
	}
	if len(r.keys) > 0 {
		s.field("Secret", strings.Join(r.keys, ", "))
	}
	for _, e := range r.evidence {
		s.field("seen", e)
	}
	s.field("workflow", r.link)
	for _, w := range r.wrong {
		s.field(s.paint(red, "WRONG"), w)
	}
	if len(r.wrong) == 0 {
		s.say("   %s", s.paint(green, "as expected"))
	}
}

// summary is the table of all outcomes.
func (s *story) summary(results []result) {
	s.heading("All outcomes")
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "   SCENE\tEXPECTED\tGOT\tTIME\tRIGHT")
	right := 0
	for _, r := range results {
		verdict := "no"
		if len(r.wrong) == 0 {
			verdict = "yes"
			right++
		}
		got := string(r.got)
		if got == "" {
			got = "-"
		}
		fmt.Fprintf(table, "   %s\t%s\t%s\t%s\t%s\n", r.request, r.want, got, seconds(r.took), verdict)
	}
	_ = table.Flush() // a strings.Builder takes everything
	s.say("%s   %d of %d as expected: conditions, workflows, Secrets, seeds and servers.", b.String(), right, len(results))
}
