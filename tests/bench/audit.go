package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// audit counts what seedmend asks of the API server, by the server's own log.
// The bench's calls are another user's and are not in it.
type audit struct {
	policy, log string
}

const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
  users: [seedmend]
- level: None
`

func newAudit(dir string) (*audit, error) {
	a := &audit{policy: filepath.Join(dir, "audit-policy.yaml"), log: filepath.Join(dir, "audit.log")}
	return a, os.WriteFile(a.policy, []byte(auditPolicy), 0o600)
}

func (a *audit) args() []string {
	return []string{"--audit-policy-file=" + a.policy, "--audit-log-path=" + a.log}
}

// apiCall is a verb and what it was for.
type apiCall struct{ verb, resource string }

func (c apiCall) String() string { return c.verb + " " + c.resource }

// recurring calls belong to the process and not to a request.
func (c apiCall) recurring() bool {
	return c.verb == "list" || c.verb == "watch" || c.resource == "leases"
}

func (c apiCall) writes() bool {
	return c.verb == "create" || c.verb == "update" || c.verb == "patch" || c.verb == "delete"
}

type tally map[apiCall]int

func (t tally) since(before tally) tally {
	out := tally{}
	for call, n := range t {
		if n > before[call] {
			out[call] = n - before[call]
		}
	}
	return out
}

// read counts everything so far.
func (a *audit) read() (tally, error) {
	t := tally{}
	f, err := os.Open(a.log)
	if os.IsNotExist(err) {
		return t, nil // nothing has been logged
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct {
			Verb      string `json:"verb"`
			ObjectRef struct {
				Resource    string `json:"resource"`
				Subresource string `json:"subresource"`
			} `json:"objectRef"`
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return nil, fmt.Errorf("the API server's audit log: %w", err)
		}
		resource := event.ObjectRef.Resource
		if event.ObjectRef.Subresource != "" {
			resource += "/" + event.ObjectRef.Subresource
		}
		t[apiCall{event.Verb, resource}]++
	}
	return t, lines.Err()
}
