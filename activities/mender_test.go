package activities

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"
	corev1 "k8s.io/api/core/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
	"github.com/seedmend/seedmend/k8s"
)

// hospital is what a Mender works with, all in memory.
type hospital struct {
	mu       sync.Mutex
	groups   map[api.GroupRef]api.Group
	secrets  map[string]map[string]string // by name; the resourceVersion is in versions
	versions map[string]string
	statuses map[api.GroupRef][]api.ReplicaStatus
	channels map[database.Address][]api.Channel
	down     map[database.Address]error
	trial    api.Trial
	account  string
	backlog  []api.Backlog
	mending  api.Mending
	err      error // of the engine's Repair and Resume
	owed     api.Threads

	asked  []database.Address
	looks  []api.MendInput
	wakes  []api.ReplicaRef
	events []string
	used   []database.Credentials
}

var _ interface {
	Groups
	GroupEvents
	Runs
	database.Replication
} = (*hospital)(nil)

func newHospital() (*hospital, *Mender) {
	g := api.Group{
		GroupRef: api.GroupRef{Kind: api.KindReplicationGroup, Namespace: "shop", Name: "db"}, UID: "u", Generation: 1,
		Primary:     api.Endpoint{Host: "primary", Port: 3306},
		Replicas:    []api.GroupReplica{{Name: "r1", Endpoint: api.Endpoint{Host: "replica", Port: 3306}}},
		Admin:       api.CredentialRef{SecretRef: api.SecretRef{Namespace: "shop", Name: "admin"}, UsernameKey: "username", PasswordKey: "password"},
		Replication: api.CredentialRef{SecretRef: api.SecretRef{Namespace: "shop", Name: "replication"}, UsernameKey: "username", PasswordKey: "password"},
		OptedIn:     true, Threshold: api.DefaultThreshold, DrainTimeout: api.DefaultDrainTimeout,
	}
	h := &hospital{
		groups: map[api.GroupRef]api.Group{g.GroupRef: g},
		secrets: map[string]map[string]string{
			"admin": {"username": "admin", "password": "a"}, "replication": {"username": "repl", "password": "r"},
		},
		versions: map[string]string{"admin": "1", "replication": "1"},
		statuses: map[api.GroupRef][]api.ReplicaStatus{},
		channels: map[database.Address][]api.Channel{{Host: "replica", Port: 3306}: {{IO: api.IOConnecting, SQL: true, IOErrno: 1045}}},
		down:     map[database.Address]error{},
		trial:    api.TrialProven, account: "v1",
	}
	m := NewMender()
	m.Groups, m.Engine, m.Runs, m.Events, m.Log = h, h, h, h, slog.New(slog.DiscardHandler)
	m.Known = func() (all []api.Group) {
		for _, g := range h.groups {
			all = append(all, g)
		}
		return all
	}
	return h, m
}

var (
	shopDB   = api.GroupRef{Kind: api.KindReplicationGroup, Namespace: "shop", Name: "db"}
	shopR1   = api.ReplicaRef{Group: shopDB, Replica: "r1"}
	replicaA = database.Address{Host: "replica", Port: 3306}
)

func (h *hospital) Group(_ context.Context, ref api.GroupRef) (api.Group, error) {
	g, ok := h.groups[ref]
	if !ok {
		return g, k8s.ErrGone
	}
	return g, nil
}

func (h *hospital) ReadSecret(_ context.Context, ref api.SecretRef) (*corev1.Secret, error) {
	values, ok := h.secrets[ref.Name]
	if !ok {
		return nil, k8s.ErrNotFound
	}
	s := &corev1.Secret{Data: map[string][]byte{}}
	s.Name, s.ResourceVersion = ref.Name, h.versions[ref.Name]
	for k, v := range values {
		s.Data[k] = []byte(v)
	}
	return s, nil
}

func (h *hospital) UpdateReplicas(_ context.Context, g api.Group, change func([]api.ReplicaStatus) []api.ReplicaStatus) error {
	h.statuses[g.GroupRef] = change(h.statuses[g.GroupRef])
	return nil
}

func (h *hospital) GroupNormal(_ api.Group, reason, message string) {
	h.events = append(h.events, "Normal "+reason+" "+message)
}

func (h *hospital) GroupWarning(_ api.Group, reason, message string) {
	h.events = append(h.events, "Warning "+reason+" "+message)
}

func (h *hospital) Look(_ context.Context, in api.MendInput, _ api.Versions, _ string) error {
	h.looks = append(h.looks, in)
	return h.err
}

func (h *hospital) Wake(_ context.Context, r api.ReplicaRef, _ string) error {
	h.wakes = append(h.wakes, r)
	return nil
}

func (h *hospital) Owed(context.Context, api.ReplicaRef) (api.Threads, bool, error) {
	return h.owed, false, nil
}

func (h *hospital) Channels(_ context.Context, a database.Admin) ([]api.Channel, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, a.Address)
	return h.channels[a.Address], h.down[a.Address]
}

func (h *hospital) AccountVersion(context.Context, database.Admin, string) (string, error) {
	return h.account, nil
}

func (h *hospital) Try(_ context.Context, _ database.Admin, c database.Credentials) (api.Trial, string, error) {
	h.used = append(h.used, c)
	return h.trial, "by a login", nil
}

func (h *hospital) Backlog(context.Context, database.ReplicaServer) (api.Backlog, error) {
	b := h.backlog[0]
	if len(h.backlog) > 1 {
		h.backlog = h.backlog[1:]
	}
	return b, nil
}

func (h *hospital) Repair(_ context.Context, in database.RepairInput) (api.Mending, error) {
	h.used = append(h.used, in.Credentials)
	return h.mending, h.err
}

func (h *hospital) Resume(context.Context, database.ReplicaServer, api.Threads) (string, error) {
	return "START SLAVE", h.err
}

// act runs a step as an activity.
func act[In, Out any](t *testing.T, step func(context.Context, In) (Out, error), in In) (out Out, err error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(step)
	value, err := env.ExecuteActivity(step, in)
	if err == nil {
		require.NoError(t, value.Get(&out))
	}
	return out, err
}

func TestInspectFindsWhatThereIs(t *testing.T) {
	for name, c := range map[string]struct {
		change func(h *hospital, g *api.Group)
		reason api.Reason
		ended  bool
		off    bool
	}{
		"stuck":                          {},
		"no opt-in":                      {change: func(_ *hospital, g *api.Group) { g.OptedIn = false }, off: true},
		"the replica left the group":     {change: func(_ *hospital, g *api.Group) { g.Replicas[0].Name = "r2" }, ended: true},
		"the primary is being switched":  {change: func(_ *hospital, g *api.Group) { g.Switching = true }, reason: api.PrimarySwitching},
		"the resource is invalid":        {change: func(_ *hospital, g *api.Group) { g.Invalid = "no" }, reason: api.GroupInvalid},
		"the replica does not answer":    {change: func(h *hospital, _ *api.Group) { h.down[replicaA] = api.Failf(api.ReplicaUnreachable, "no") }, reason: api.ReplicaUnreachable},
		"there is no such channel":       {change: func(h *hospital, _ *api.Group) { h.channels[replicaA] = nil }, reason: api.ChannelMissing},
		"the admin Secret is missing":    {change: func(h *hospital, _ *api.Group) { delete(h.secrets, "admin") }, reason: api.AdminCredentialsRejected},
		"the CA's Secret is missing":     {change: func(_ *hospital, g *api.Group) { g.TLS.CA = &api.SecretRef{Name: "ca"} }, reason: api.GroupInvalid},
		"the CA's Secret holds nonsense": {change: func(_ *hospital, g *api.Group) { g.TLS.CA = &api.SecretRef{Name: "admin"} }, reason: api.GroupInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			h, m := newHospital()
			if c.change != nil {
				g := h.groups[shopDB]
				c.change(h, &g)
				h.groups[shopDB] = g
			}
			out, err := act(t, m.Inspect, api.InspectInput{Replica: shopR1, Versions: true})
			require.NoError(t, err)
			assert.Equal(t, c.ended, out.Ended != "")
			assert.Equal(t, c.off, out.Off)
			if c.reason != "" {
				require.NotNil(t, out.Trouble)
				assert.Equal(t, c.reason, out.Trouble.Reason)
				return
			}
			assert.Nil(t, out.Trouble)
			if !c.ended {
				assert.True(t, out.Channel.Stuck())
				assert.Equal(t, api.Versions{Secret: "1", Account: "v1", Generation: 1}, out.Versions)
			}
		})
	}
	_, m := newHospital()
	out, err := act(t, m.Inspect, api.InspectInput{Replica: api.ReplicaRef{Group: api.GroupRef{Name: "gone"}}})
	require.NoError(t, err)
	assert.NotEmpty(t, out.Ended)
}

func TestTheOperatorsOnlyChannelIsMeantWhateverItsName(t *testing.T) {
	theirs := api.Group{GroupRef: api.GroupRef{Kind: api.KindMariaDB}}
	ours := api.Group{GroupRef: api.GroupRef{Kind: api.KindReplicationGroup}}
	one, two := []api.Channel{{Name: ""}}, []api.Channel{{Name: ""}, {Name: "x"}}
	assert.NotNil(t, channelOf(theirs, "mariadb-operator", one))
	assert.Nil(t, channelOf(theirs, "mariadb-operator", two))
	assert.Nil(t, channelOf(ours, "mariadb-operator", one))
	assert.Equal(t, "x", channelOf(theirs, "X", two).Name)
}

func TestProveNamesWhatIsWrongAndNeverShowsIt(t *testing.T) {
	for name, c := range map[string]struct {
		change func(h *hospital)
		reason api.Reason
		says   string
	}{
		"missing":         {func(h *hospital) { delete(h.secrets, "replication") }, api.SecretUnusable, "does not exist"},
		"key renamed":     {func(h *hospital) { h.secrets["replication"] = map[string]string{"username": "repl", "pass": "r"} }, api.SecretUnusable, `"password"`},
		"empty":           {func(h *hospital) { h.secrets["replication"]["password"] = "" }, api.SecretUnusable, "empty"},
		"refused":         {func(h *hospital) { h.trial = api.TrialRefused }, api.SecretMismatch, "primary:3306"},
		"proven":          {func(*hospital) {}, "", ""},
		"cannot be told":  {func(h *hospital) { h.trial = api.TrialInconclusive }, "", ""},
		"no word on whom": {func(h *hospital) { h.secrets["replication"]["username"] = "" }, api.SecretUnusable, `"username"`},
	} {
		t.Run(name, func(t *testing.T) {
			h, m := newHospital()
			h.secrets["replication"]["password"] = "hush-hush"
			c.change(h)
			h.backlog = []api.Backlog{{Applied: true}}
			out, err := act(t, m.Inspect, api.InspectInput{Replica: shopR1, Prove: true})
			require.NoError(t, err)
			require.Nil(t, out.Trouble)
			require.NotNil(t, out.Proof)
			if c.reason == "" {
				require.Nil(t, out.Proof.Refused)
				assert.Equal(t, api.Versions{Secret: "1", Account: "v1", Generation: 1}, out.Versions)
				assert.True(t, out.Backlog.Safe())
				return
			}
			require.NotNil(t, out.Proof.Refused)
			assert.Equal(t, c.reason, out.Proof.Refused.Reason)
			assert.Contains(t, out.Proof.Refused.Message, c.says)
			assert.NotContains(t, out.Proof.Refused.Message, "hush-hush")
			assert.Nil(t, out.Backlog)
		})
	}
}

func TestDrainWaitsWhereWaitingHelps(t *testing.T) {
	draining, stopped, done := api.Backlog{Draining: true}, api.Backlog{Detail: "300 events"}, api.Backlog{Applied: true}
	for name, c := range map[string]struct {
		backlog []api.Backlog
		timeout time.Duration
		safe    bool
	}{
		"applied":                   {[]api.Backlog{done}, time.Minute, true},
		"draining, then applied":    {[]api.Backlog{draining, draining, done}, time.Minute, true},
		"draining for too long":     {[]api.Backlog{draining}, 300 * time.Millisecond, false},
		"the SQL thread is stopped": {[]api.Backlog{stopped}, time.Minute, false},
		"the primary has it all":    {[]api.Backlog{{Kept: true}}, time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			h, m := newHospital()
			h.backlog = c.backlog
			in := api.DrainInput{Target: target(h.groups[shopDB], h.groups[shopDB].Replicas[0])}
			in.Target.DrainTimeout = c.timeout
			out, err := act(t, m.Drain, in)
			require.NoError(t, err)
			assert.Equal(t, c.safe, out.Backlog.Safe())
		})
	}
}

func TestRepairUsesTheSecretThatWasProven(t *testing.T) {
	h, m := newHospital()
	h.mending = api.Mending{Outcome: api.OutcomeRepaired}
	in := api.RepairInput{Target: target(h.groups[shopDB], h.groups[shopDB].Replicas[0]), SecretVersion: "1"}
	out, err := act(t, m.Repair, in)
	require.NoError(t, err)
	assert.Equal(t, api.OutcomeRepaired, out.Mending.Outcome)
	assert.Equal(t, database.Credentials{Username: "repl", Password: "r"}, h.used[0])

	h.versions["replication"] = "2"
	out, err = act(t, m.Repair, in)
	require.NoError(t, err)
	assert.Equal(t, api.SecretChanged, out.Trouble.Reason)
	assert.Len(t, h.used, 1, "nothing was sent")

	in.SecretVersion = "2"
	h.err = api.Failf(api.ReplicaUnreachable, "gone")
	out, err = act(t, m.Repair, in)
	require.NoError(t, err)
	assert.Equal(t, api.ReplicaUnreachable, out.Trouble.Reason)

	for _, reason := range []api.Reason{api.ServerBusy, api.PasswordTooLong} {
		h.err = api.Failf(reason, "no")
		_, err = act(t, m.Repair, in)
		require.Error(t, err, "%s: busy is tried again, too long is for good", reason)
	}

	// An attempt that was cut had done the work.
	h.err, h.mending = nil, api.Mending{Outcome: api.OutcomeHealed, Channel: api.Channel{IO: api.IOYes}}
	in.Owed = true
	out, err = act(t, m.Repair, in)
	require.NoError(t, err)
	assert.Equal(t, api.OutcomeRepaired, out.Mending.Outcome)
}

func TestResumeSaysWhereStartWouldLoseEvents(t *testing.T) {
	h, m := newHospital()
	in := api.ResumeInput{Target: target(h.groups[shopDB], h.groups[shopDB].Replicas[0]), Threads: api.ThreadsAll}
	out, err := act(t, m.Resume, in)
	require.NoError(t, err)
	assert.Equal(t, "START SLAVE", out.Sent)
	h.err = api.Failf(api.RelayLogNotApplied, "unsafe")
	out, err = act(t, m.Resume, in)
	require.NoError(t, err)
	require.NotNil(t, out.Held)
	h.err = errors.New("cut")
	_, err = act(t, m.Resume, in)
	require.Error(t, err, "START is owed, so it is tried again")
}

func TestTellWritesStatusAndEvent(t *testing.T) {
	h, m := newHospital()
	g := h.groups[shopDB]
	g.Rebuild = g.Threshold
	h.groups[shopDB] = g
	since := time.Now()
	_, err := act(t, m.Tell, api.TellInput{Replica: shopR1, Phase: api.PhaseThreshold, Reason: api.ReasonThreshold, Message: "stuck", IOErrno: 1045, Since: since})
	require.NoError(t, err)
	e := h.statuses[shopDB][0]
	assert.Equal(t, "replica:shop/db/r1", e.WorkflowID)
	assert.NotNil(t, e.Since)
	require.Len(t, h.events, 2)
	assert.True(t, strings.HasPrefix(h.events[0], "Warning WaitingForThreshold replica r1: stuck"))
	assert.True(t, strings.HasPrefix(h.events[1], "Warning RebuildAhead"))
	_, err = act(t, m.Tell, api.TellInput{Replica: shopR1, Phase: api.PhaseRepaired, Reason: api.ReasonRepaired, Message: "done", Repaired: since})
	require.NoError(t, err)
	e = h.statuses[shopDB][0]
	assert.Nil(t, e.Since)
	assert.NotNil(t, e.LastRepair)
	assert.True(t, strings.HasPrefix(h.events[2], "Normal Repaired"))
	_, err = act(t, m.Tell, api.TellInput{Replica: shopR1, Phase: api.PhaseHealthy, Reason: api.ReasonReplicating, Quiet: true})
	require.NoError(t, err)
	assert.Len(t, h.events, 3, "quiet")
	assert.NotNil(t, h.statuses[shopDB][0].LastRepair, "it stays")
}
