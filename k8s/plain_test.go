package k8s_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
)

func TestSnapshot(t *testing.T) {
	type spec = v1alpha1.DatabaseRequestSpec
	for sentence, test := range map[string]struct {
		name    string
		change  func(*spec)
		invalid string
	}{
		"sound":                    {change: func(*spec) {}},
		"scope":                    {change: func(s *spec) { s.Selector, s.Scope = "", "development" }},
		"mongodb is not our word":  {change: func(s *spec) { s.Type = "mongodb" }},
		"both":                     {change: func(s *spec) { s.Scope = "b" }, invalid: `spec.selector ("development") and spec.scope ("b") are both set; set exactly one of them.`},
		"neither":                  {change: func(s *spec) { s.Selector = "" }, invalid: "Neither spec.selector nor spec.scope is set; set exactly one of them."},
		"no type":                  {change: func(s *spec) { s.Type = "" }, invalid: "spec.type is not set."},
		"no name":                  {change: func(s *spec) { s.Name = "" }, invalid: "spec.name is not set; it names the Service."},
		"63 characters are enough": {change: func(s *spec) { s.Name = strings.Repeat("a", 63) }},
		"64 are too many":          {change: func(s *spec) { s.Name = strings.Repeat("a", 64) }, invalid: "spec.name has 64 characters; the Service that it names may have 63."},
		"a digit first":            {change: func(s *spec) { s.Name = "1db" }, invalid: `spec.name "1db" cannot be a Service's name: small letters, digits and -, a letter first and no - at the end.`},
		"a dot":                    {change: func(s *spec) { s.Name = "a.b" }, invalid: `spec.name "a.b" cannot be a Service's name: small letters, digits and -, a letter first and no - at the end.`},
		"a request of 63":          {name: strings.Repeat("r", 63), change: func(*spec) {}},
		"a request of 64":          {name: strings.Repeat("r", 64), change: func(*spec) {}, invalid: "The request's name has 64 characters; 63 is the most that the label app.kubernetes.io/instance takes."},
		"a seed without a name":    {change: func(s *spec) { s.Seed = &v1alpha1.SecretReference{Namespace: "x"} }, invalid: "spec.seed names no Secret."},
	} {
		t.Run(sentence, func(t *testing.T) {
			obj := request("ns", "r", func(r *v1alpha1.DatabaseRequest) { test.change(&r.Spec) })
			if test.name != "" {
				obj.Name = test.name
			}
			got := k8s.Snapshot(obj)
			require.Equal(t, test.invalid, got.Invalid)
			if test.invalid == "" {
				require.Equal(t, "development", got.Selector)
			}
		})
	}

	obj := request("ns", "r", func(r *v1alpha1.DatabaseRequest) {
		r.UID, r.Generation = "uid", 3
		r.Spec.Seed = &v1alpha1.SecretReference{Name: "s"}
		r.Status.ObservedDatabaseConnectionReference = &v1alpha1.DatabaseConnectionReference{
			Name: "primary", DatabaseObjectReference: corev1.ObjectReference{Kind: "RelationalDatabaseProvider", Name: "p"}}
		r.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", Reason: "R", Message: "m", ObservedGeneration: 2}}
	})
	require.Equal(t, api.Request{
		Namespace: "ns", Name: "r", UID: "uid", Generation: 3, ServiceName: "mariadb", Selector: "development", Type: "mariadb",
		Seed:       &api.SecretRef{Namespace: "ns", Name: "s"},
		Observed:   &api.ConnectionRef{Provider: "p", Connection: "primary"},
		Conditions: []api.Condition{{Type: "Ready", Status: "True", Reason: "R", Message: "m", ObservedGeneration: 2}},
	}, k8s.Snapshot(obj))
	obj.Spec.Seed.Namespace = "elsewhere"
	require.Equal(t, "elsewhere", k8s.Snapshot(obj).Seed.Namespace, "for the workflow to refuse")
}

func TestTerminal(t *testing.T) {
	with := func(generation, observed int64, conditions ...metav1.Condition) *v1alpha1.DatabaseRequest {
		return request("ns", "r", func(r *v1alpha1.DatabaseRequest) {
			r.Generation, r.Status.ObservedGeneration, r.Status.Conditions = generation, observed, conditions
		})
	}
	is := func(kind string, status metav1.ConditionStatus, generation int64) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, ObservedGeneration: generation}
	}
	require.False(t, k8s.Terminal(with(1, 0)), "nothing yet")
	require.True(t, k8s.Terminal(with(2, 2, is("Ready", "True", 2))), "ready")
	require.True(t, k8s.Terminal(with(2, 2, is("Ready", "False", 2), is("Error", "True", 2))), "failed")
	require.False(t, k8s.Terminal(with(2, 2, is("Ready", "False", 2))), "retrying")
	require.False(t, k8s.Terminal(with(3, 2, is("Ready", "True", 2))), "a newer spec")
	require.False(t, k8s.Terminal(with(3, 2, is("Error", "True", 2))), "a newer spec after a failure")
	require.False(t, k8s.Terminal(with(3, 3, is("Error", "True", 2), is("Ready", "False", 3))), "what is left of a failure")
	require.True(t, k8s.Terminal(with(2, 2, is("Ready", "True", 0))), "the dbaas-controller's")
	require.False(t, k8s.Terminal(with(2, 1, is("Ready", "True", 0))), "the dbaas-controller's, of an older spec")
	require.False(t, k8s.Terminal(with(2, 2, is("Else", "True", 2))))
}

// No way of printing an OutputSecret shows what is in it.
func TestOutputSecretNeverPrints(t *testing.T) {
	o := k8s.OutputSecret{Username: hunter, Password: hunter, Database: hunter, ReplicaHosts: []string{hunter}}
	var log strings.Builder
	logger := slog.New(slog.NewTextHandler(&log, nil))
	logger.Info("x", "plain", o, "pointer", &o, "in", struct{ O k8s.OutputSecret }{o})
	jsonLogger := slog.New(slog.NewJSONHandler(&log, nil))
	jsonLogger.Info("x", "plain", o, "pointer", &o, "in", []any{o})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%t", "%08.3f"} {
		fmt.Fprintf(&log, verb, o)
		fmt.Fprintf(&log, verb, &o)
		fmt.Fprintf(&log, verb, []k8s.OutputSecret{o})
		fmt.Fprintf(&log, verb, struct{ In k8s.OutputSecret }{o})
		fmt.Fprintf(&log, verb, k8s.Outputs{Held: o})
	}
	for _, v := range []any{o, &o, k8s.Outputs{Held: o}, map[string]any{"o": o}} {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		log.Write(text)
	}
	log.WriteString(o.String() + o.GoString() + fmt.Sprint(o, errors.New(fmt.Sprint(o))))
	require.NotContains(t, log.String(), hunter)
	require.NotContains(t, log.String(), fmt.Sprintf("%x", hunter))
	require.Contains(t, log.String(), "[redacted]")
}

func TestHosts(t *testing.T) {
	for in, want := range map[string]string{
		"DB.Example.COM.": "db.example.com", " db\n": "db", "10.0.0.5": "10.0.0.5", "2001:DB8:0:0::5": "2001:db8::5",
		"[2001:db8::5]": "2001:db8::5", "::ffff:10.0.0.5": "10.0.0.5", "db": "db", "": "",
	} {
		require.Equal(t, want, k8s.NormalHost(in), in)
	}
	require.Equal(t, "MY_DB_1", k8s.KeyPrefix("my-db-1"))
	require.Equal(t, []int{3306, 3306, 5432, 0}, []int{k8s.DefaultPort("mysql"), k8s.DefaultPort("mariadb"), k8s.DefaultPort("postgres"), k8s.DefaultPort("mongodb")})
}

func TestNewLeavesTheConfigurationAlone(t *testing.T) {
	cfg := &rest.Config{Host: "http://127.0.0.1:1"}
	_, err := k8s.New(cfg)
	require.NoError(t, err)
	require.Equal(t, &rest.Config{Host: "http://127.0.0.1:1"}, cfg)
}
