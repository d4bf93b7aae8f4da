package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/tests/lab"
)

// serverState is all that a server holds of accounts (with their hashes),
// databases, grants and claims: a line a thing.
type serverState map[string]fact

// fact is what is so, and since when.
type fact struct{ what, since string }

func (f fact) String() string { return strings.TrimSpace(f.what + " " + f.since) }

// read takes a snapshot of a server.
func read(ctx context.Context, m *lab.MariaDB) (serverState, error) {
	s := serverState{}
	for _, part := range []func(context.Context, *lab.MariaDB) error{s.accounts, s.databases, s.grants, s.otherGrants, s.claims} {
		if err := part(ctx, m); err != nil {
			return nil, fmt.Errorf("read the state of %s: %w", m.Name, err)
		}
	}
	return s, nil
}

func snapshot(t *testing.T, m *lab.MariaDB) serverState {
	t.Helper()
	s, err := read(within(t, patience), m)
	require.NoError(t, err)
	return s
}

// rows answers each row of a query with its columns by name.
func rows(ctx context.Context, m *lab.MariaDB, question string, each func(map[string]string)) error {
	rows, err := m.DB().QueryContext(ctx, question)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values, into := make([]*string, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		row := map[string]string{}
		for i, c := range columns {
			if values[i] != nil {
				row[c] = *values[i]
			}
		}
		each(row)
	}
	return rows.Err()
}

func (s serverState) accounts(ctx context.Context, m *lab.MariaDB) error {
	return rows(ctx, m, "SELECT User, Host, Priv FROM mysql.global_priv", func(r map[string]string) {
		var priv map[string]any
		if err := json.Unmarshal([]byte(r["Priv"]), &priv); err != nil {
			s["account "+r["User"]+"@"+r["Host"]] = fact{what: r["Priv"]}
			return
		}
		since := fmt.Sprint("since ", priv["password_last_changed"])
		delete(priv, "password_last_changed")
		delete(priv, "version_id")
		what, _ := json.Marshal(priv)
		s["account "+r["User"]+"@"+r["Host"]] = fact{string(what), since}
	})
}

func (s serverState) databases(ctx context.Context, m *lab.MariaDB) error {
	err := rows(ctx, m, "SELECT SCHEMA_NAME n, DEFAULT_COLLATION_NAME c FROM information_schema.SCHEMATA", func(r map[string]string) {
		s["database "+r["n"]] = fact{what: r["c"]}
	})
	if err != nil {
		return err
	}
	return rows(ctx, m, "SELECT TABLE_SCHEMA s, TABLE_NAME n, CREATE_TIME c FROM information_schema.TABLES"+
		" WHERE TABLE_SCHEMA NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')", func(r map[string]string) {
		s["table "+r["s"]+"."+r["n"]] = fact{since: r["c"]}
	})
}

func (s serverState) grants(ctx context.Context, m *lab.MariaDB) error {
	return rows(ctx, m, "SELECT * FROM mysql.db", func(r map[string]string) {
		var yes, no []string
		for column, value := range r {
			if privilege, ok := strings.CutSuffix(column, "_priv"); ok {
				if value == "Y" {
					yes = append(yes, privilege)
				} else {
					no = append(no, privilege)
				}
			}
		}
		slices.Sort(yes)
		what := strings.Join(yes, ",")
		if slices.Equal(no, []string{"Grant"}) {
			what = allPrivileges
		}
		s["grant to "+r["User"]+"@"+r["Host"]+" on "+r["Db"]] = fact{what: what}
	})
}

const allPrivileges = "all privileges"

func (s serverState) otherGrants(ctx context.Context, m *lab.MariaDB) error {
	for _, table := range []string{"tables_priv", "columns_priv", "procs_priv", "proxies_priv", "roles_mapping"} {
		err := rows(ctx, m, "SELECT * FROM mysql."+table, func(r map[string]string) {
			delete(r, "Timestamp")
			s[fmt.Sprint(table, " ", r)] = fact{}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s serverState) claims(ctx context.Context, m *lab.MariaDB) error {
	if _, there := s["table seedmend.claims"]; !there {
		return nil
	}
	return rows(ctx, m, "SELECT * FROM seedmend.claims", func(r map[string]string) {
		s["claim on "+r["database_name"]] = claimed(api.Claim{
			Owner:    api.Owner{Namespace: r["namespace"], Name: r["name"], UID: r["owner_uid"], Cluster: r["cluster_uid"]},
			Username: r["username"], Host: r["host"], Origin: r["origin"], Phase: r["phase"],
		}, "since "+r["created_at"]+", changed "+r["updated_at"])
	})
}

func claimed(c api.Claim, since string) fact {
	return fact{fmt.Sprintf("%s, %s: account %s@%s of %s/%s, uid %s, cluster %s",
		c.Origin, c.Phase, c.Username, c.Host, c.Owner.Namespace, c.Owner.Name, c.Owner.UID, c.Owner.Cluster), since}
}

// change of one thing; nil for what is not there.
type change struct{ before, after *fact }

type changes map[string]change

// since tells what has changed between two snapshots.
func (s serverState) since(before serverState) changes {
	c := changes{}
	for key, was := range before {
		is, there := s[key]
		switch {
		case !there:
			c[key] = change{before: &was}
		case is != was:
			c[key] = change{&was, &is}
		}
	}
	for key, is := range s {
		if _, there := before[key]; !there {
			c[key] = change{after: &is}
		}
	}
	return c
}

// about keeps the changes whose things bear one of the names.
func (c changes) about(names ...string) changes {
	of := changes{}
	for key, each := range c {
		if slices.ContainsFunc(names, func(n string) bool { return strings.Contains(key, n) }) {
			of[key] = each
		}
	}
	return of
}

// String is a diff that a person can read.
func (c changes) String() string {
	if len(c) == 0 {
		return "nothing changed"
	}
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(c)) {
		if each := c[key]; each.before != nil {
			fmt.Fprintf(&b, "- %s: %s\n", key, each.before)
		}
		if each := c[key]; each.after != nil {
			fmt.Fprintf(&b, "+ %s: %s\n", key, each.after)
		}
	}
	return b.String()
}

// additions are things that are to be there, without their times.
type additions map[string]string

// assertAdded makes sure that exactly these things were added, and nothing else
// was changed.
func assertAdded(t *testing.T, want additions, got changes) {
	t.Helper()
	have := additions{}
	for key, each := range got {
		switch {
		case each.before != nil && each.after == nil:
			have[key] = "(removed)"
		case each.before != nil:
			have[key] = "(changed)"
		default:
			have[key] = each.after.what
		}
	}
	if want == nil {
		want = additions{}
	}
	assert.Equal(t, want, have, "what has changed on the server:\n%s", got)
}
