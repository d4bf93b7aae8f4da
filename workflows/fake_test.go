package workflows_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/worker"
)

// script says what each step answers, and records what was asked.
type script struct {
	admit   func(n int, in api.AdmitInput) (api.Admission, error)
	probe   func(n int) (api.Facts, error)
	adopt   func(n int, in api.AdoptInput) error
	create  func(n int) error
	publish func(n int) error
	finish  func(n int, in api.FinishInput) (api.Done, error)
	report  func(n int, in api.ReportInput) (api.Done, error)

	mu      sync.Mutex
	calls   []string // step names, regular ones with a star
	counts  map[string]int
	reports []api.ReportInput
}

var _ api.SeedSteps = (*script)(nil)

func (s *script) count(ctx context.Context, name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts == nil {
		s.counts = map[string]int{}
	}
	s.counts[name]++
	if activity.GetInfo(ctx).IsLocalActivity {
		s.calls = append(s.calls, name)
	} else {
		s.calls = append(s.calls, name+"*")
	}
	return s.counts[name]
}

func (s *script) Admit(ctx context.Context, in api.AdmitInput) (api.Admission, error) {
	n := s.count(ctx, "Admit")
	if s.admit != nil {
		return s.admit(n, in)
	}
	return api.Admission{Target: target}, nil
}

func (s *script) Probe(ctx context.Context, _ api.StepInput) (api.Facts, error) {
	n := s.count(ctx, "Probe")
	if s.probe != nil {
		return s.probe(n)
	}
	return adoptable, nil
}

func (s *script) Adopt(ctx context.Context, in api.AdoptInput) (api.Done, error) {
	n := s.count(ctx, "Adopt")
	if s.adopt != nil {
		return api.Done{}, s.adopt(n, in)
	}
	return api.Done{}, nil
}

func (s *script) Create(ctx context.Context, _ api.StepInput) (api.Done, error) {
	n := s.count(ctx, "Create")
	if s.create != nil {
		return api.Done{}, s.create(n)
	}
	return api.Done{}, nil
}

func (s *script) Publish(ctx context.Context, _ api.PublishInput) (api.Published, error) {
	n := s.count(ctx, "Publish")
	if s.publish != nil {
		return api.Published{}, s.publish(n)
	}
	return api.Published{ServiceStyle: "ExternalName"}, nil
}

func (s *script) Finish(ctx context.Context, in api.FinishInput) (api.Done, error) {
	n := s.count(ctx, "Finish")
	if s.finish != nil {
		return s.finish(n, in)
	}
	return api.Done{Note: "Ready"}, nil
}

func (s *script) Report(ctx context.Context, in api.ReportInput) (api.Done, error) {
	n := s.count(ctx, "Report")
	s.mu.Lock()
	s.reports = append(s.reports, in)
	s.mu.Unlock()
	if s.report != nil {
		return s.report(n, in)
	}
	return api.Done{}, nil
}

var (
	request = api.Request{
		Namespace: "shop", Name: "mariadb", UID: "uid-1", Generation: 1, ServiceName: "mariadb",
		Selector: "development", Type: "mariadb", Seed: &api.SecretRef{Namespace: "shop", Name: "seed"},
	}
	target = api.Target{
		Connection: api.Connection{
			ConnectionRef: api.ConnectionRef{Provider: "dev", Connection: "one"},
			Host:          "db.example", Port: 3306, AdminUser: "admin",
		},
		Source:   api.Source{SecretRef: *request.Seed, UID: "s", Version: "1"},
		Database: "shop", Username: "shop",
	}
	adoptable = api.Facts{Auth: api.LoginOK, DatabaseExists: true, UserExists: true, Access: api.LoginOK, AccountHost: "%", Cluster: "c"}
	creatable = api.Facts{Auth: api.LoginRefused, Cluster: "c"}
)

// outcome is how a run ended in the test environment.
type outcome struct {
	result  api.ReconcileResult
	err     error
	elapsed time.Duration
}

func play(t *testing.T, s *script, in api.ReconcileInput, during ...func(*testsuite.TestWorkflowEnvironment)) outcome {
	t.Helper()
	env := environment(s)
	for _, d := range during {
		d(env)
	}
	start := env.Now()
	env.ExecuteWorkflow(api.WorkflowReconcileDatabase, in)
	require.True(t, env.IsWorkflowCompleted())
	out := outcome{err: env.GetWorkflowError(), elapsed: env.Now().Sub(start)}
	if out.err == nil {
		require.NoError(t, env.GetWorkflowResult(&out.result))
	}
	return out
}

func softly(n int, until int, cause api.Reason) error {
	if n <= until {
		return api.Failf(cause, "not yet")
	}
	return nil
}

func environment(s *script) *testsuite.TestWorkflowEnvironment {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.TestOptions())
	worker.RegisterSeeds(env, s)
	env.SetTestTimeout(30 * time.Second)
	return env
}

// decode reads the one argument that a run continues with.
func decode(err *workflow.ContinueAsNewError, into *api.ReconcileInput) error {
	return converter.GetDefaultDataConverter().FromPayloads(err.Input, into)
}
