package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/seedmend/seedmend"

// node is one package of the import graph, without its tests.
type node struct {
	ImportPath string
	Imports    []string
	Deps       []string // everything that it reaches
}

// arrow is a rule on what the packages of a room may import. Names without a
// dot in their first element are rooms of this project.
type arrow struct {
	room   string
	except string   // a room below it that the rule leaves alone
	only   []string // beside the standard library: nothing else is imported
	never  []string // not imported
	deep   []string // not even reached through others
}

var arrows = []arrow{
	{room: "api", only: []string{"go.temporal.io/sdk/temporal"}, deep: []string{"tests"}},
	// api gives Temporal's error constructors to everybody, so that no room is
	// free of Temporal in depth; what counts is that it does not ask for it.
	{room: "database", never: []string{"go.temporal.io"},
		deep: []string{"k8s.io", "sigs.k8s.io", "k8s", "workflows", "activities", "worker", "starter", "tests"}},
	{room: "k8s", never: []string{"go.temporal.io"},
		deep: []string{"database", "workflows", "activities", "worker", "starter", "tests"}},
	{room: "workflows", only: []string{"api", "workflows", "go.temporal.io"},
		deep: []string{"database", "k8s", "k8s.io", "activities", "worker", "starter", "tests"}},
	{room: "activities", deep: []string{"workflows", "worker", "starter", "tests"}},
	{room: "worker", deep: []string{"starter", "tests"}},
	{room: "starter", deep: []string{"database", "activities", "worker", "tests"}},
	// cmd may start the lab, for `seedmend dev`.
	{room: "", except: "cmd/seedmend", never: []string{"cmd"}},
}

// TestArrows holds the directions of imports between the rooms.
func TestArrows(t *testing.T) {
	graph := importGraph(t)
	for _, room := range []string{"api", "database", "k8s", "workflows", "activities", "worker", "starter", "cmd/seedmend"} {
		require.True(t, hasRoom(graph, room), "there is no package in %s: a rule about it holds nothing", room)
	}
	require.Empty(t, violations(graph))
}

// TestArrowsBreak shows that each kind of rule fails on a graph that breaks it.
func TestArrowsBreak(t *testing.T) {
	for name, c := range map[string]struct {
		from    string
		imports []string
		through []string // reached, not imported
		wrong   bool
	}{
		"workflows import api and Temporal":            {"workflows", []string{"fmt", own("api"), "go.temporal.io/sdk/workflow"}, nil, false},
		"workflows import a database":                  {"workflows", []string{own("database/mysql")}, nil, true},
		"workflows reach the cluster":                  {"workflows", []string{own("api")}, []string{own("k8s/v1alpha1")}, true},
		"workflows reach client-go":                    {"workflows", []string{own("api")}, []string{"k8s.io/client-go/rest"}, true},
		"workflows import something foreign":           {"workflows", []string{"github.com/lib/pq"}, nil, true},
		"workflows import activities":                  {"workflows/seed", []string{own("activities")}, nil, true},
		"a database imports its driver":                {"database/mysql", []string{own("api"), own("database"), "github.com/go-sql-driver/mysql"}, []string{"go.temporal.io/sdk/temporal"}, false},
		"a database imports Temporal":                  {"database/mysql", []string{"go.temporal.io/sdk/temporal"}, nil, true},
		"a database reaches Kubernetes":                {"database", nil, []string{"k8s.io/api/core/v1"}, true},
		"a database imports k8s":                       {"database", []string{own("k8s")}, nil, true},
		"api imports Temporal's errors":                {"api", []string{"time", "go.temporal.io/sdk/temporal"}, nil, false},
		"api imports Temporal's client":                {"api", []string{"go.temporal.io/sdk/client"}, nil, true},
		"api imports a room":                           {"api", []string{own("k8s")}, nil, true},
		"activities import database and cluster":       {"activities", []string{own("api"), own("database"), own("k8s"), "go.temporal.io/sdk/activity"}, nil, false},
		"activities import workflows":                  {"activities", []string{own("workflows")}, nil, true},
		"the starter imports workflows and cluster":    {"starter", []string{own("workflows"), own("k8s")}, nil, false},
		"the starter imports a database":               {"starter", []string{own("database")}, nil, true},
		"the starter reaches activities":               {"starter/watch", nil, []string{own("activities")}, true},
		"k8s imports activities":                       {"k8s/apply", []string{own("activities")}, nil, true},
		"k8s reaches a database":                       {"k8s", nil, []string{own("database")}, true},
		"somebody imports cmd":                         {"worker", []string{own("cmd/seedmend/flags")}, nil, true},
		"the lab imports cmd":                          {"tests/lab", []string{own("cmd/seedmend/flags")}, nil, true},
		"cmd imports its own folder and the lab":       {"cmd/seedmend", []string{own("cmd/seedmend/dev"), own("tests/lab")}, nil, false},
		"the worker reaches the lab":                   {"worker", nil, []string{own("tests/lab")}, true},
		"a room whose name begins like another's":      {"workflows", []string{own("api")}, []string{own("database2")}, false},
		"the standard library has a database/sql":      {"workflows", []string{own("api")}, []string{"database/sql"}, false},
		"the standard library is no room of ours":      {"starter", []string{"database/sql"}, nil, false},
		"a module whose name begins like Temporal's":   {"database", []string{"go.temporal.iox/sdk"}, nil, false},
		"tests may import what the product may not":    {"tests/e2e", []string{own("workflows"), own("database"), own("k8s")}, nil, false},
		"the worker wires workflows and activities up": {"worker", []string{own("workflows"), own("activities")}, []string{own("database"), own("k8s")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			graph := []node{{own(c.from), c.imports, append(c.through, c.imports...)}}
			if c.wrong {
				require.NotEmpty(t, violations(graph))
			} else {
				require.Empty(t, violations(graph))
			}
		})
	}
}

func violations(graph []node) []string {
	var found []string
	for _, a := range arrows {
		for _, p := range graph {
			if !under(p.ImportPath, own(a.room)) || a.except != "" && under(p.ImportPath, own(a.except)) {
				continue
			}
			for _, i := range p.Imports {
				if len(a.only) > 0 && !standard(i) && !anyUnder(i, a.only) {
					found = append(found, fmt.Sprintf("%s imports %s: only the standard library and %s are allowed",
						p.ImportPath, i, strings.Join(a.only, ", ")))
				}
				if anyUnder(i, a.never) {
					found = append(found, fmt.Sprintf("%s imports %s", p.ImportPath, i))
				}
			}
			for _, d := range p.Deps {
				if anyUnder(d, a.deep) {
					found = append(found, fmt.Sprintf("%s reaches %s", p.ImportPath, d))
				}
			}
		}
	}
	return found
}

func importGraph(t *testing.T) []node {
	t.Helper()
	var graph []node
	packages := json.NewDecoder(bytes.NewReader(run(t, "go", "list", "-e", "-json=ImportPath,Imports,Deps", "./...")))
	for {
		var p node
		if err := packages.Decode(&p); errors.Is(err, io.EOF) {
			return graph
		} else if err != nil {
			t.Fatal(err)
		}
		graph = append(graph, p)
	}
}

func hasRoom(graph []node, room string) bool {
	for _, p := range graph {
		if under(p.ImportPath, own(room)) {
			return true
		}
	}
	return false
}

func own(room string) string { return strings.TrimSuffix(module+"/"+room, "/") }

func under(path, parent string) bool { return path == parent || strings.HasPrefix(path, parent+"/") }

func anyUnder(path string, parents []string) bool {
	for _, parent := range parents {
		if standard(parent) {
			parent = own(parent)
		}
		if under(path, parent) {
			return true
		}
	}
	return false
}

// standard tells whether a path is of the standard library: others begin with
// a host's name.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}
