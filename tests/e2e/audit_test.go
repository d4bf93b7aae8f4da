package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// call is one request of seedmend's to the Kubernetes API.
type call struct {
	Verb   string
	Object struct{ Resource, Subresource, Namespace, Name string }
	Code   int
}

func (c call) String() string {
	resource := c.Object.Resource
	if c.Object.Subresource != "" {
		resource += "/" + c.Object.Subresource
	}
	return fmt.Sprintf("%s %s %s/%s (answer %d)", c.Verb, resource, c.Object.Namespace, c.Object.Name, c.Code)
}

// calls are all of them, from the API server's own audit log.
func (g *ground) calls() ([]call, error) {
	file, err := os.Open(g.audit)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []call
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct {
			Verb           string
			ObjectRef      *struct{ Resource, Subresource, Namespace, Name string }
			ResponseStatus struct{ Code int }
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			continue // a line that is being written
		}
		c := call{Verb: event.Verb, Code: event.ResponseStatus.Code}
		if event.ObjectRef != nil {
			c.Object = *event.ObjectRef
		}
		all = append(all, c)
	}
	return all, lines.Err()
}

// secretCalls are the calls about Secrets of one namespace.
func (g *ground) secretCalls(namespace string) ([]call, error) {
	all, err := g.calls()
	var of []call
	for _, c := range all {
		if c.Object.Resource == "secrets" && c.Object.Namespace == namespace {
			of = append(of, c)
		}
	}
	return of, err
}
