package story

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/seedmend/seedmend/tests/lab"
)

// state is what a server holds, as far as seedmend could change it: one line
// for each thing, by kind.
type state map[string][]string

// The kinds, each with the statement that lists it. An account's line ends in a
// digest of its password hash, locks and the like, so that any change shows.
var kinds = []struct{ name, query string }{
	{"databases", "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME <> 'seedmend'"},
	{"accounts", "SELECT CONCAT(User, '@', Host, ' ', SHA2(Priv, 256)) FROM mysql.global_priv"},
	{"grants", "SELECT CONCAT(User, '@', Host, ' on ', Db, ' ', Select_priv, Insert_priv, Create_priv, Grant_priv) FROM mysql.db"},
	{"claims", "SELECT CONCAT(database_name, ' ', namespace, '/', name, ' ', username, '@', host, ' ', origin, ' ', phase) FROM seedmend.claims"},
}

func look(ctx context.Context, m *lab.MariaDB) (state, error) {
	found := state{}
	for _, k := range kinds {
		lines, err := list(ctx, m, k.query)
		var missing *mysql.MySQLError
		if errors.As(err, &missing) && (missing.Number == 1146 || missing.Number == 1049) {
			continue // no claim was ever made here
		}
		if err != nil {
			return nil, fmt.Errorf("list %s on %s: %w", k.name, m.Name, err)
		}
		slices.Sort(lines)
		found[k.name] = lines
	}
	return found, nil
}

// list runs a statement of one column.
func list(ctx context.Context, m *lab.MariaDB, query string, args ...any) ([]string, error) {
	rows, err := m.DB().QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var lines []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, rows.Err()
}

// change is what is there now and was not before, and the reverse, by kind.
func (before state) change(after state) (more, less state) {
	more, less = state{}, state{}
	for _, k := range kinds {
		more[k.name] = missing(after[k.name], before[k.name])
		less[k.name] = missing(before[k.name], after[k.name])
	}
	return more, less
}

// missing are the lines of a that b lacks.
func missing(a, b []string) []string {
	var out []string
	for _, line := range a {
		if !slices.Contains(b, line) {
			out = append(out, line)
		}
	}
	return out
}

func (before state) empty() bool {
	for _, lines := range before {
		if len(lines) > 0 {
			return false
		}
	}
	return true
}

// words are the lines without their digests.
func (before state) words() string {
	var parts []string
	for _, k := range kinds {
		for _, line := range before[k.name] {
			if k.name == "accounts" {
				line, _, _ = strings.Cut(line, " ")
			}
			parts = append(parts, strings.TrimSuffix(k.name, "s")+" "+line)
		}
	}
	return strings.Join(parts, "; ")
}

// has tells whether a line of the kind begins so.
func (before state) has(kind, prefix string) bool {
	return slices.ContainsFunc(before[kind], func(line string) bool { return strings.HasPrefix(line, prefix) })
}
