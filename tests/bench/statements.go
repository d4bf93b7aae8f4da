package main

import (
	"context"
	"slices"
	"strings"

	"github.com/seedmend/seedmend/api"
)

// sampled requests are few: MariaDB's log of all statements slows it down.
const sampled = 5

// statements lists what is sent for a request, by MariaDB's general log.
func (b *bench) statements(ctx context.Context, r *report) error {
	for kind, want := range map[string]api.Reason{"create": api.ReasonCreated, "adopt": api.ReasonAdopted} {
		all := orders("sample-"+kind, "sample_"+kind, sampled)
		if err := b.exist(ctx, all, want); err != nil {
			return err
		}
		if err := b.server.ResetGeneralLog(ctx); err != nil {
			return err
		}
		if _, err := b.oneByOne(ctx, all, want); err != nil {
			return err
		}
		if _, err := b.histories(ctx, all); err != nil {
			return err
		}
		if err := b.server.StopGeneralLog(ctx); err != nil {
			return err
		}
		log, err := b.server.Statements(ctx)
		if err != nil {
			return err
		}
		kinds := map[string]float64{}
		for _, s := range log {
			if s.Command == "Query" || s.Command == "Connect" {
				kinds[shape(s.Command, s.Argument)] += 1.0 / sampled
			}
		}
		delete(kinds, shape("Query", "SET GLOBAL general_log = OFF"))
		r.Samples = append(r.Samples, sample{Kind: kind, Statements: kinds})
	}
	slices.SortFunc(r.Samples, func(a, b sample) int { return -strings.Compare(a.Kind, b.Kind) })
	return nil
}

// sample is what was sent for each request, by kind.
type sample struct {
	Kind       string
	Statements map[string]float64
}

// shape names a statement without anything that a tenant chose.
func shape(command, argument string) string {
	if command == "Connect" {
		if strings.HasPrefix(argument, "Access denied") {
			return "(login, refused)"
		}
		return "(login)"
	}
	words := strings.Fields(argument)
	switch {
	case len(words) == 0:
		return "(empty)"
	case strings.HasPrefix(argument, "SELECT GET_LOCK"):
		return "SELECT GET_LOCK"
	case strings.HasPrefix(argument, "SELECT 'database'"):
		return "SELECT facts"
	case words[0] == "INSERT" || words[0] == "UPDATE" || words[0] == "DELETE":
		return words[0] + " claim"
	case words[0] == "GRANT":
		return words[0]
	}
	return strings.Join(words[:min(2, len(words))], " ")
}
