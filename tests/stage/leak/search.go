package leak

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/tests/stage"
)

// Hit is a secret that was found.
type Hit struct {
	Source string // what kind of thing it was found in
	Where  string
	What   string
}

func (h Hit) String() string { return fmt.Sprintf("%s: %s: %s", h.Source, h.Where, h.What) }

// Sources of a search.
const (
	Visibility = "the list of workflows"
	History    = "a history"
	State      = "a running workflow's state"
	Database   = "Temporal's database"
	Events     = "events"
	Requests   = "requests"
	Objects    = "other objects"
	Logs       = "logs"
)

// Search looks through everything that a stage has stored or printed, but for
// the Secrets themselves. It also tells how many things it looked at, by source.
// A query of Temporal's narrows it down to some workflows; empty is all.
func Search(ctx context.Context, s *stage.Stage, needles Needles, query string) ([]Hit, map[string]int, error) {
	w := &searcher{needles: needles, query: query, seen: map[string]int{}}
	for _, look := range []func(context.Context, *stage.Stage) error{w.workflows, w.cluster, w.files} {
		if err := look(ctx, s); err != nil {
			return w.hits, w.seen, err
		}
	}
	return w.hits, w.seen, nil
}

type searcher struct {
	needles Needles
	query   string

	mu   sync.Mutex
	hits []Hit
	seen map[string]int
}

func (w *searcher) look(source, where string, data []byte) {
	found := w.needles.In(data)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[source]++
	for _, f := range found {
		w.hits = append(w.hits, Hit{source, where, f})
	}
}

// message looks at a protobuf message in its wire format, in which every string
// and the data of every payload stand as they are.
func (w *searcher) message(source, where string, m proto.Message) error {
	data, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	w.look(source, where, data)
	return nil
}

func (w *searcher) workflows(ctx context.Context, s *stage.Stage) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	var page []byte
	for {
		list, err := s.Workflows.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{PageSize: 200, NextPageToken: page, Query: w.query})
		if err != nil {
			return fmt.Errorf("list workflows: %w", err)
		}
		for _, each := range list.GetExecutions() {
			if err := w.message(Visibility, each.GetExecution().GetWorkflowId(), each); err != nil {
				return err
			}
			group.Go(func() error { return w.history(ctx, s, each) })
		}
		if page = list.GetNextPageToken(); len(page) == 0 {
			return group.Wait()
		}
	}
}

func (w *searcher) history(ctx context.Context, s *stage.Stage, each *workflow.WorkflowExecutionInfo) error {
	id, run := each.GetExecution().GetWorkflowId(), each.GetExecution().GetRunId()
	events := s.Workflows.GetWorkflowHistory(ctx, id, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return fmt.Errorf("history of %s: %w", id, err)
		}
		if err := w.message(History, fmt.Sprintf("%s %s event %d (%s)", id, run, event.GetEventId(), event.GetEventType()), event); err != nil {
			return err
		}
	}
	if each.GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return nil
	}
	state, err := s.Workflows.DescribeWorkflow(ctx, id, run)
	if err != nil {
		return fmt.Errorf("describe %s: %w", id, err)
	}
	return w.message(State, id, state.RawResponse)
}

func (w *searcher) cluster(ctx context.Context, s *stage.Stage) error {
	kube := s.Client.Kube
	for _, kind := range []struct {
		source string
		list   func() (any, error)
	}{
		{Events, func() (any, error) { l, err := kube.CoreV1().Events("").List(ctx, metav1.ListOptions{}); return l, err }},
		{Requests, func() (any, error) {
			l, err := s.Client.DatabaseRequests("").List(ctx, metav1.ListOptions{})
			return l, err
		}},
		{Objects, func() (any, error) {
			l, err := s.Client.RelationalDatabaseProviders().List(ctx, metav1.ListOptions{})
			return l, err
		}},
		{Objects, func() (any, error) {
			l, err := s.Client.DatabaseMySQLProviders("").List(ctx, metav1.ListOptions{})
			return l, err
		}},
		{Objects, func() (any, error) {
			l, err := s.Client.ReplicationGroups("").List(ctx, metav1.ListOptions{})
			return l, err
		}},
		{Objects, func() (any, error) {
			l, err := kube.CoreV1().Services("").List(ctx, metav1.ListOptions{})
			return l, err
		}},
		{Objects, func() (any, error) {
			l, err := kube.DiscoveryV1().EndpointSlices("").List(ctx, metav1.ListOptions{})
			return l, err
		}},
		{Objects, func() (any, error) {
			l, err := kube.CoreV1().ConfigMaps("").List(ctx, metav1.ListOptions{})
			return l, err
		}},
		{Objects, func() (any, error) {
			l, err := kube.CoordinationV1().Leases("").List(ctx, metav1.ListOptions{})
			return l, err
		}},
	} {
		list, err := kind.list()
		if err != nil {
			return fmt.Errorf("list %s: %w", kind.source, err)
		}
		data, err := json.Marshal(list)
		if err != nil {
			return err
		}
		var items struct {
			Items []json.RawMessage `json:"items"`
		}
		if err := json.Unmarshal(data, &items); err != nil {
			return err
		}
		for _, item := range items.Items {
			var name struct {
				Metadata struct {
					Namespace, Name string
				} `json:"metadata"`
			}
			if err := json.Unmarshal(item, &name); err != nil {
				return err
			}
			w.look(kind.source, name.Metadata.Namespace+"/"+name.Metadata.Name, item)
		}
	}
	return nil
}

// files are the logs of all servers and of seedmend, and Temporal's own database.
func (w *searcher) files(_ context.Context, s *stage.Stage) error {
	for source, dir := range map[string]string{
		Logs:     filepath.Join(s.Lab.Dir(), "logs"),
		Database: filepath.Join(s.Lab.Dir(), s.Temporal.Name),
	} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			w.look(source, path, data)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
