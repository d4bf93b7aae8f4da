package k8s_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s"
	"github.com/seedmend/seedmend/k8s/mendv1alpha1"
)

// Objects are sent as a person writes them, since the Go types cannot hold all
// that a person writes.
func TestTheAPIServerValidatesGroups(t *testing.T) {
	c, kube := cluster(t)
	ns := namespace(t, c)
	d, err := dynamic.NewForConfig(kube.Config)
	require.NoError(t, err)
	const (
		names    = "may hold letters, digits, '-', '_' and '.', with a letter or digit at both ends"
		duration = "must be a duration such as 5m, 1h30m or 0s, and not negative"
		hosts    = "must be a host name or an IP address, without a scheme, a path or spaces"
	)
	type object = map[string]any
	replica := func(change ...any) []any {
		out := object{"name": "r1", "host": "db-1"}
		for i := 0; i < len(change); i += 2 {
			out[change[i].(string)] = change[i+1]
		}
		return []any{out}
	}
	for sentence, test := range map[string]struct {
		over    object
		refusal string
	}{
		"the least":                     {object{}, ""},
		"everything":                    {object{"tls": object{"mode": "verify", "caSecretRef": object{"name": "ca"}}, "recovery": object{"reconnectOnAuthError": true, "errorDurationThreshold": "0s", "drainTimeout": "1h30m"}}, ""},
		"verify with the system's CAs":  {object{"tls": object{"mode": "verify"}}, ""},
		"addresses":                     {object{"primary": object{"host": "10.0.0.1"}, "replicas": replica("host", "2001:db8::1")}, ""},
		"an address in brackets":        {object{"primary": object{"host": "[2001:db8::1]", "port": int64(3307)}}, ""},
		"two channels of one":           {object{"replicas": append(replica(), replica("channel", "b")...)}, ""},
		"any channel":                   {object{"replicas": replica("channel", "it's/ä")}, ""},
		"a threshold of 0":              {object{"recovery": object{"errorDurationThreshold": "0"}}, ""},
		"parts of a second":             {object{"recovery": object{"errorDurationThreshold": "1.5s"}}, ""},
		"the longest threshold":         {object{"recovery": object{"errorDurationThreshold": "999999h999999h"}}, ""},
		"a negative threshold":          {object{"recovery": object{"errorDurationThreshold": "-1s"}}, "spec.recovery.errorDurationThreshold: Invalid value: \"-1s\": " + duration},
		"no duration":                   {object{"recovery": object{"drainTimeout": "abc"}}, duration},
		"a duration without a unit":     {object{"recovery": object{"drainTimeout": "10"}}, duration},
		"an empty duration":             {object{"recovery": object{"drainTimeout": ""}}, duration},
		"a duration that Go cannot do":  {object{"recovery": object{"drainTimeout": "9999999999h"}}, duration},
		"a number as a duration":        {object{"recovery": object{"drainTimeout": int64(10)}}, "must be of type string"},
		"the same name twice":           {object{"replicas": append(replica(), replica()...)}, "Duplicate value"},
		"the same name and channel":     {object{"replicas": append(replica("channel", "b"), replica("channel", "b", "host", "c")...)}, "Duplicate value"},
		"no replica":                    {object{"replicas": []any{}}, "spec.replicas"},
		"a slash in a name":             {object{"replicas": replica("name", "a/b")}, names},
		"a colon in a name":             {object{"replicas": replica("name", "a:b")}, names},
		"a name that ends in a dot":     {object{"replicas": replica("name", "a.")}, names},
		"an empty name":                 {object{"replicas": replica("name", "")}, "spec.replicas[0].name"},
		"a channel that is too long":    {object{"replicas": replica("channel", strings.Repeat("c", 65))}, "spec.replicas[0].channel"},
		"no host":                       {object{"primary": object{"port": int64(3306)}}, "spec.primary.host: Required"},
		"a host with a port":            {object{"primary": object{"host": "db:3306/x"}}, hosts},
		"a URL":                         {object{"replicas": replica("host", "mysql://db")}, hosts},
		"spaces":                        {object{"replicas": replica("host", "a b")}, hosts},
		"no port":                       {object{"primary": object{"host": "db", "port": int64(65536)}}, "spec.primary.port"},
		"no admin":                      {object{"adminSecretRef": nil}, "spec.adminSecretRef: Required"},
		"a Secret without a name":       {object{"replicationSecretRef": object{"name": ""}}, "spec.replicationSecretRef.name"},
		"an unheard-of TLS mode":        {object{"tls": object{"mode": "maybe"}}, "spec.tls.mode"},
		"certificates without a Secret": {object{"tls": object{"caSecretRef": object{"key": "x"}}}, "spec.tls.caSecretRef.name: Required"},
	} {
		t.Run(sentence, func(t *testing.T) {
			spec := object{
				"primary": object{"host": "db-0"}, "replicas": replica(),
				"adminSecretRef": object{"name": "a"}, "replicationSecretRef": object{"name": "r"},
			}
			for field, value := range test.over {
				spec[field] = value
			}
			obj := &unstructured.Unstructured{Object: object{
				"apiVersion": "seedmend.dev/v1alpha1", "kind": "ReplicationGroup",
				"metadata": object{"generateName": "g-"}, "spec": spec,
			}}
			made, err := d.Resource(mendv1alpha1.GroupVersion.WithResource("replicationgroups")).Namespace(ns).Create(ctxFor(t), obj, metav1.CreateOptions{})
			if test.refusal != "" {
				require.True(t, apierrors.IsInvalid(err), "%v", err)
				require.ErrorContains(t, err, test.refusal)
				return
			}
			require.NoError(t, err)
			g, err := c.Group(ctxFor(t), api.GroupRef{Kind: "ReplicationGroup", Namespace: ns, Name: made.GetName()})
			require.NoError(t, err)
			require.Empty(t, g.Invalid)
		})
	}

	made := createdGroup(t, c, group(ns, "defaults"))
	require.Equal(t, int32(3306), made.Spec.Primary.Port)
	require.Equal(t, int32(3306), made.Spec.Replicas[0].Port)
	recovery, err := json.Marshal(made.Spec.Recovery)
	require.NoError(t, err)
	require.JSONEq(t, `{"errorDurationThreshold": "5m0s", "drainTimeout": "10m0s"}`, string(recovery))
	g := k8s.GroupOf(made)
	require.Equal(t, []time.Duration{api.DefaultThreshold, api.DefaultDrainTimeout}, []time.Duration{g.Threshold, g.DrainTimeout})
	require.False(t, g.OptedIn)
}
