package e2e

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdk "go.temporal.io/api/sdk/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/tests/stage/leak"
)

// F56: no password is told, whatever happens. The same search goes over the
// grounds of all tests when they are closed.
func TestF56NoPasswordIsToldAnywhere(t *testing.T) {
	t.Parallel()
	password := func() string { return vault.Password(`~'"\` + "`" + `<&> %41~`) }
	tenants := map[string]*tenant{}
	play := func(id string, change func(x *tenant), server ...string) {
		x := shared.tenant(id, "two")
		x.password, x.other = password(), password()
		x.reseed()
		if change != nil {
			change(x)
		}
		tenants[id] = x.play(t, server...)
	}
	dead := shared.deadEnd(t, "f56", "two")
	require.NoError(t, shared.makeAdmin(within(t, patience), shared.Servers["two"], "f56-admin", "GRANT SELECT ON *.* TO `f56-admin`@'%'", "GRANT ALL ON seedmend.* TO `f56-admin`@'%'"))
	require.NoError(t, shared.offer(within(t, patience), "f56-weak", via(shared.Servers["two"], "f56-admin")))

	play("f56-created", nil)
	play("f56-adopted", nil, everything...)
	play("f56-wrong", nil, aDatabase, anotherUser, access)
	play("f56-conflict", nil, anotherUser)
	play("f56-syntax", func(x *tenant) { x.called("f56`'\"; --", "f56'`\"; #") })
	play("f56-unreachable", func(x *tenant) { x.selects("f56"); x.seed["port"] = strconv.Itoa(dead) })
	play("f56-denied", func(x *tenant) { x.selects("f56-weak") })
	play("f56-invalid", func(x *tenant) { x.seed["port"] = "no port" })
	play("f56-swapped", func(x *tenant) { x.seed["hostname"] = "bad host" })
	play("f56-refused", func(x *tenant) { x.seed["password"] = vault.Password("~\x00~") })

	var said [][]byte
	say := func(code int, out, errs string) { said = append(said, []byte(fmt.Sprint(code, out, errs))) }
	for id, x := range tenants {
		if id == "f56-unreachable" {
			eventually(t, func(context.Context) error {
				for _, c := range x.request(t).Status.Conditions {
					if c.Reason == string(api.ReasonRetrying) {
						return nil
					}
				}
				return fmt.Errorf("no retry yet")
			})
		} else {
			x.settled(t)
		}
		switch id { // each command takes a second, built with the race detector
		case "f56-created", "f56-conflict", "f56-denied":
			say(shared.command(t, "retry", x.key()))
		case "f56-wrong", "f56-refused":
			say(shared.command(t, "explain", "--seed", x.namespace+"/"+x.seedName(), "--type", "mariadb", "--selector", "development"))
		case "f56-adopted", "f56-invalid":
			say(shared.command(t, "explain", x.key(), "-o", "json"))
		default:
			say(shared.command(t, "explain", x.key()))
		}
		said = append(said, x.answers(t)...)
	}
	say(shared.command(t, "status"))
	say(shared.command(t, "status", "-o", "json"))
	said = append(said, fetch(t, shared.process.MetricsURL))
	for _, s := range said {
		assert.Empty(t, vault.Needles().In(s), "%s", s)
	}
	hits, seen, err := leak.Search(within(t, 2*patience), shared.Stage, vault.Needles(), `WorkflowId STARTS_WITH "database:f56"`)
	require.NoError(t, err)
	assert.Empty(t, hits)
	for _, source := range []string{leak.Visibility, leak.History, leak.State, leak.Database, leak.Events, leak.Requests, leak.Objects, leak.Logs} {
		assert.NotZero(t, seen[source], source)
	}
	require.NoError(t, shared.Client.DatabaseRequests("f56-unreachable").Delete(within(t, patience), "mariadb", metav1.DeleteOptions{}))
	tenants["f56-unreachable"].closed(t)
}

// answers are those of the workflow to queries; the second one is what Temporal's
// UI shows as current details.
func (x *tenant) answers(t *testing.T) [][]byte {
	t.Helper()
	var progress json.RawMessage
	answer, err := x.g.Workflows.QueryWorkflow(within(t, patience), x.workflow(), "", api.QueryProgress)
	require.NoError(t, err)
	require.NoError(t, answer.Get(&progress))
	var metadata sdk.WorkflowMetadata
	answer, err = x.g.Workflows.QueryWorkflow(within(t, patience), x.workflow(), "", "__temporal_workflow_metadata")
	require.NoError(t, err)
	require.NoError(t, answer.Get(&metadata))
	require.NotEmpty(t, metadata.GetCurrentDetails())
	return [][]byte{progress, []byte(metadata.String())}
}

// The search does find what is there: one password is planted in each place.
func TestTheSearchForPasswordsFindsThem(t *testing.T) {
	t.Parallel()
	ctx := within(t, 2*patience)
	planted := leak.NewVault()
	password := planted.Password(`~'"\ <&>~`)
	quoted, err := json.Marshal(password)
	require.NoError(t, err)

	x := shared.tenant("planted", "two")
	x.seed["port"] = "no port" // it fails, and rests
	x.play(t).settled(t)
	r := x.request(t)
	r.Status.Conditions = append(r.Status.Conditions, metav1.Condition{
		Type: "Planted", Status: metav1.ConditionTrue, Reason: "Planted", Message: string(quoted), LastTransitionTime: metav1.Now(),
	})
	_, err = shared.Client.DatabaseRequests(x.namespace).UpdateStatus(ctx, r, metav1.UpdateOptions{})
	require.NoError(t, err)
	event := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: x.namespace, Name: "planted"},
		InvolvedObject: corev1.ObjectReference{Kind: "DatabaseRequest", Namespace: x.namespace, Name: x.name},
		Message:        base64.StdEncoding.EncodeToString([]byte("ab" + password)),
	}
	_, err = shared.Client.Kube.CoreV1().Events(x.namespace).Create(ctx, event, createNow)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(shared.Lab.Dir(), "logs", "planted.log"), []byte("dsn=u:"+url.QueryEscape(password)+"@tcp"), 0o600))

	// Each workflow has it in one place only.
	inputs := map[string]func(*client.StartWorkflowOptions) any{
		"input":   func(*client.StartWorkflowOptions) any { return map[string]any{"deep": []byte(password)} },
		"memo":    func(o *client.StartWorkflowOptions) any { o.Memo = map[string]any{"m": password}; return nil },
		"summary": func(o *client.StartWorkflowOptions) any { o.StaticSummary = password; return nil },
	}
	for place, plant := range inputs {
		options := client.StartWorkflowOptions{ID: "planted-" + place, TaskQueue: "nobody's"}
		input := plant(&options)
		_, err := shared.Workflows.ExecuteWorkflow(ctx, options, "Planted", input)
		require.NoError(t, err)
		defer func() {
			require.NoError(t, shared.Workflows.TerminateWorkflow(context.Background(), options.ID, "", "done"))
		}()
	}
	eventually(t, func(ctx context.Context) error {
		hits, _, err := leak.Search(ctx, shared.Stage, planted.Needles(), `WorkflowId STARTS_WITH "planted"`)
		if err != nil {
			return err
		}
		found := map[string]bool{}
		for _, h := range hits {
			found[h.Source] = true
			for place := range inputs {
				if h.Source == leak.History && strings.HasPrefix(h.Where, "planted-"+place+" ") {
					found[place] = true
				}
			}
		}
		for _, want := range []string{leak.Visibility, leak.History, leak.State, leak.Database, leak.Events, leak.Requests, leak.Logs, "input", "memo", "summary"} {
			if !found[want] {
				return fmt.Errorf("the search does not find what was planted in %s", want)
			}
		}
		return nil
	})
	// The wire format holds a payload's data as it is; were that to change, this would show.
	data, err := proto.Marshal(x.events(t)[0])
	require.NoError(t, err)
	assert.Contains(t, string(data), x.name)
}

func fetch(t *testing.T, from string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(within(t, patience), http.MethodGet, from, http.NoBody)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NotEmpty(t, data)
	return data
}
