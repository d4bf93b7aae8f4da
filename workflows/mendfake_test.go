package workflows_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/worker"
)

// ward is a replica with its primary and its resource, as the steps see them.
type ward struct {
	mu      sync.Mutex
	start   time.Time // of the run's clock
	look    api.Inspection
	proof   api.Proof
	backlog api.Backlog
	drain   func(n int) (api.Drained, error)
	// repair answers the n-th repair; by default it heals the replica.
	repair func(n int, in api.RepairInput) (api.Repair, error)
	resume func(n int, in api.ResumeInput) (api.Resumption, error)
	// fails is the error of a step, by its name.
	fails func(name string) error
	// during is called by each step, with its name and how often it ran.
	during func(name string, n int)

	calls   []string
	counts  map[string]int
	tells   []api.TellInput
	repairs []api.RepairInput
	resumes []api.ResumeInput
	proofs  int
}

var _ api.MendSteps = (*ward)(nil)

var replica = api.ReplicaRef{Group: api.GroupRef{Kind: api.KindReplicationGroup, Namespace: "shop", Name: "db"}, Replica: "r1"}

// newWard is stuck on 1045 with a Secret that is right.
func newWard() *ward {
	return &ward{
		start: time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC),
		look: api.Inspection{
			Target: api.MendTarget{
				Group: replica.Group, Replica: api.GroupReplica{Name: "r1"}, Threshold: api.DefaultThreshold, DrainTimeout: api.DefaultDrainTimeout,
			},
			Channel:  &api.Channel{IO: api.IOConnecting, SQL: true, IOErrno: api.AuthErrno, User: "repl", Received: "0-1-7"},
			Versions: api.Versions{Secret: "1", Account: "a", Generation: 1},
		},
		proof:   api.Proof{Trial: api.TrialProven, Detail: "logged in", Versions: api.Versions{Secret: "1", Account: "a"}},
		backlog: api.Backlog{Applied: true, Detail: "all applied"},
	}
}

// change is for what happens meanwhile.
func (w *ward) change(f func(w *ward)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(w)
}

func (w *ward) heal() {
	w.look.Channel = &api.Channel{IO: api.IOYes, SQL: true, User: "repl", Received: "0-1-9"}
}

// mismatch makes the primary refuse the Secret.
func (w *ward) mismatch() {
	w.proof.Trial = api.TrialRefused
	w.proof.Refused = &api.Trouble{Reason: api.SecretMismatch, Message: "refused"}
}

// enter counts a call; the lock is held until the function that it returns is called.
func (w *ward) enter(name string) (n int, leave func()) {
	w.mu.Lock()
	if w.counts == nil {
		w.counts = map[string]int{}
	}
	w.counts[name]++
	w.calls = append(w.calls, name)
	n = w.counts[name]
	if during := w.during; during != nil {
		w.mu.Unlock()
		during(name, n)
		w.mu.Lock()
	}
	return n, w.mu.Unlock
}

func (w *ward) Inspect(_ context.Context, in api.InspectInput) (api.Inspection, error) {
	_, leave := w.enter("Inspect")
	defer leave()
	if w.fails != nil {
		if err := w.fails("Inspect"); err != nil {
			return api.Inspection{}, err
		}
	}
	look := w.look
	if !in.Versions {
		look.Versions.Secret, look.Versions.Account = "", ""
	}
	if in.Prove && look.Trouble == nil && look.Channel != nil && (look.Channel.Stuck() || look.Channel.IO == api.IONo) {
		proof, backlog := w.proof, w.backlog
		look.Proof, look.Versions.Secret, look.Versions.Account = &proof, proof.Versions.Secret, proof.Versions.Account
		w.proofs++
		if proof.Refused == nil {
			look.Backlog = &backlog
		}
	}
	return look, nil
}

func (w *ward) Drain(context.Context, api.DrainInput) (api.Drained, error) {
	n, leave := w.enter("Drain")
	defer leave()
	return w.drain(n)
}

func (w *ward) Repair(ctx context.Context, in api.RepairInput) (api.Repair, error) {
	n, leave := w.enter("Repair")
	defer leave()
	if activity.GetInfo(ctx).Attempt > 1 {
		in.Owed = true
	}
	w.repairs = append(w.repairs, in)
	if w.fails != nil {
		if err := w.fails("Repair"); err != nil {
			return api.Repair{}, err
		}
	}
	if w.repair != nil {
		return w.repair(n, in)
	}
	return w.repaired(), nil
}

func (w *ward) repaired() api.Repair {
	w.heal()
	return ended(api.OutcomeRepaired, *w.look.Channel)
}

func ended(o api.Outcome, c api.Channel) api.Repair {
	did := api.Mending{Outcome: o, Channel: c, Detail: "detail"}
	if o != api.OutcomeHealed && o != api.OutcomeUnsafe && o != api.OutcomeMismatch {
		did.Sent = []string{"STOP SLAVE", "CHANGE MASTER", "START SLAVE"}
	}
	return api.Repair{Mending: did}
}

func (w *ward) Resume(_ context.Context, in api.ResumeInput) (api.Resumption, error) {
	n, leave := w.enter("Resume")
	defer leave()
	w.resumes = append(w.resumes, in)
	if w.resume != nil {
		return w.resume(n, in)
	}
	if w.look.Channel.IO == api.IONo {
		w.look.Channel = &api.Channel{IO: api.IOConnecting, SQL: true, IOErrno: api.AuthErrno}
	}
	return api.Resumption{Sent: "START SLAVE"}, nil
}

func (w *ward) Tell(_ context.Context, in api.TellInput) (api.Done, error) {
	_, leave := w.enter("Tell")
	defer leave()
	w.tells = append(w.tells, in)
	return api.Done{}, nil
}

func (w *ward) Sweep(context.Context, api.SweepInput) (api.SweepResult, error) {
	_, leave := w.enter("Sweep")
	defer leave()
	return api.SweepResult{Replicas: 3, Stuck: 1}, nil
}

// sent counts the steps that send something to the replica.
func (w *ward) sent() int { return w.counts["Repair"] + w.counts["Resume"] }

func (w *ward) lastTold() api.TellInput {
	if len(w.tells) == 0 {
		return api.TellInput{}
	}
	return w.tells[len(w.tells)-1]
}

func mendEnvironment(w *ward) *testsuite.TestWorkflowEnvironment {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.TestOptions())
	worker.RegisterMends(env, w)
	env.SetTestTimeout(time.Minute)
	env.SetStartTime(w.start)
	env.OnUpsertMemo(mockAny).Return(nil).Maybe()
	return env
}

// mended is how a run ended.
type mended struct {
	result  api.MendResult
	err     error
	elapsed time.Duration
	env     *testsuite.TestWorkflowEnvironment
}

// mend plays a run; during is called with the environment before.
func (w *ward) mend(t *testing.T, in api.MendInput, during ...func(env *testsuite.TestWorkflowEnvironment)) mended {
	t.Helper()
	env := mendEnvironment(w)
	for _, d := range during {
		d(env)
	}
	in.Replica = replica
	env.ExecuteWorkflow(api.WorkflowRepairReplicaAuth, in)
	require.True(t, env.IsWorkflowCompleted())
	out := mended{err: env.GetWorkflowError(), elapsed: env.Now().Sub(w.start), env: env}
	if out.err == nil {
		require.NoError(t, env.GetWorkflowResult(&out.result))
	}
	return out
}

// after calls f at a time of the run's own clock.
func after(d time.Duration, f func(env *testsuite.TestWorkflowEnvironment)) func(*testsuite.TestWorkflowEnvironment) {
	return func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(func() { f(env) }, d)
	}
}
