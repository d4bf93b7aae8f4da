package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// report is everything that was measured.
type report struct {
	At         time.Time
	Cores      int
	LoadBefore string
	LoadAfter  string
	Backlog    int
	Single     int
	Drained    []drained
	Singles    []latency
	Samples    []sample
	Idle       idle
	Plain      []plainLoop
}

func (r *report) json(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// The budget of the design, for each request.
const (
	budgetStatements = 7
	budgetCalls      = 7
	budgetEvents     = 25
	budgetKiB        = 10
	budgetPerSecond  = 50
	budgetP50        = 80
)

func (r *report) table(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "seedmend on this machine: %d cores, load %s before and %s after, %s\n", r.Cores, r.LoadBefore, r.LoadAfter, r.At.Format(time.RFC3339))
	fmt.Fprintf(t, "\nBACKLOG OF %d\tRATE\tSTART TO LAST READY\tTO FIRST\tFROM FIRST TO LAST\tMACHINE BUSY\tBY OTHERS\n", r.Backlog)
	for _, d := range r.Drained {
		fmt.Fprintf(t, "%s\t%.1f/s (aim %d)\t%.1f s\t%.1f s\t%.1f/s\t%.0f%%\t%.0f%%\n", d.Kind, d.PerSecond, budgetPerSecond, d.Seconds, d.FirstTo, d.Steady, d.Busy*100, d.Others*100)
	}
	for _, p := range r.Plain {
		fmt.Fprintf(t, "plain loop, %d at once\t%.1f/s\t%.1f s\t\t%.1f ms each\t%.0f%%\t%.0f%%\t%s\n", p.Width, p.PerSecond, p.Seconds, p.Mean, p.Busy*100, p.Others*100, p.What)
	}
	fmt.Fprintf(t, "\nONE AFTER THE OTHER\tP50\tP95\tMIN\tMAX\n")
	for _, l := range r.Singles {
		fmt.Fprintf(t, "%d x %s\t%.0f ms (aim %d)\t%.0f ms\t%.0f ms\t%.0f ms\n", l.Requests, l.Kind, l.P50, budgetP50, l.P95, l.Min, l.Max)
	}
	fmt.Fprintf(t, "\nCOST OF A REQUEST\tSQL STATEMENTS\tLOGINS\tAPI CALLS\tHISTORY EVENTS\tHISTORY\n")
	for _, d := range r.Drained {
		fmt.Fprintf(t, "%s\t%.1f (aim %d)\t%.1f\t%.1f (aim %d)\t%.1f, most %.0f (aim %d)\t%.1f KiB, most %.1f (aim %d)\n",
			d.Kind, d.Statements, budgetStatements, d.Logins, d.CallsAll, budgetCalls, d.Histories.Events, d.Histories.MostEvents, budgetEvents,
			d.Histories.Bytes/1024, d.Histories.MostKiB, budgetKiB)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	for _, d := range r.Drained {
		fmt.Fprintf(out, "API calls, %s: %s\n", d.Kind, each(d.Calls, "%.2f"))
	}
	for _, s := range r.Samples {
		fmt.Fprintf(out, "SQL, %s: %s\n", s.Kind, each(s.Statements, "%.1f"))
	}
	for _, d := range r.Drained {
		fmt.Fprintf(out, "CPU, %s, ms a request: %s\n", d.Kind, each(d.CPU, "%.1f"))
	}
	for _, p := range r.Plain {
		fmt.Fprintf(out, "CPU, plain loop, %d at once (%s), ms a request: %s\n", p.Width, p.What, each(p.CPU, "%.1f"))
	}
	i := r.Idle
	_, err := fmt.Fprintf(out, "Nothing to do for %.0f s with %d Ready: %.0f SQL statements, %d API writes (and %d lease calls), %d workflows started, %.1f%% of a core, %.0f MiB resident\n",
		i.Seconds, i.Requests, i.Statements, i.Writes, i.Leases, i.Workflows, i.CPU*100, i.RSS)
	return err
}

// each lists values, largest first.
func each(values map[string]float64, format string) string {
	names := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		if values[a] != values[b] {
			if values[a] > values[b] {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	for i, name := range names {
		names[i] = fmt.Sprintf(format+" %s", values[name], name)
	}
	return strings.Join(names, ", ")
}
