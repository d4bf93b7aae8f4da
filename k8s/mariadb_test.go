package k8s_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s"
)

const soundMariaDB = `
apiVersion: k8s.mariadb.com/v1alpha1
kind: MariaDB
metadata: {name: shop, namespace: ns, uid: u}
spec:
  replicas: 3
  replication: {enabled: true}
status:
  currentPrimaryPodIndex: 1
`

// mariaDB reads a MariaDB, with another text laid over it.
func mariaDB(t *testing.T, over string) *unstructured.Unstructured {
	t.Helper()
	var base, more map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(soundMariaDB), &base))
	require.NoError(t, yaml.Unmarshal([]byte(over), &more))
	overlay(base, more)
	obj := &unstructured.Unstructured{Object: base}
	obj.SetGeneration(2) // YAML's numbers are floats; the API server's are not
	return obj
}

func overlay(base, more map[string]any) {
	for name, value := range more {
		before, both := base[name].(map[string]any)
		if after, ok := value.(map[string]any); ok && both {
			overlay(before, after)
			continue
		}
		base[name] = value
	}
}

func pod(index string) api.Endpoint {
	return api.Endpoint{Host: "shop-" + index + ".shop-internal.ns.svc.cluster.local", Port: 3306}
}

func TestGroupOfMariaDB(t *testing.T) {
	bare := func() api.Group {
		return api.Group{
			GroupRef: api.GroupRef{Kind: "MariaDB", Namespace: "ns", Name: "shop"},
			UID:      "u", Generation: 2,
			Primary: pod("1"),
			Replicas: []api.GroupReplica{
				{Name: "shop-0", Channel: "mariadb-operator", Endpoint: pod("0")},
				{Name: "shop-2", Channel: "mariadb-operator", Endpoint: pod("2")},
			},
			Admin:       api.CredentialRef{SecretRef: api.SecretRef{Namespace: "ns", Name: "shop-root"}, Username: "root", PasswordKey: "password"},
			Replication: api.CredentialRef{SecretRef: api.SecretRef{Namespace: "ns", Name: "shop-repl-password"}, Username: "repl", PasswordKey: "password"},
			Threshold:   5 * time.Minute, DrainTimeout: 10 * time.Minute,
		}
	}
	for sentence, test := range map[string]struct {
		over string
		want func(*api.Group)
	}{
		"nothing but replication":       {``, func(*api.Group) {}},
		"numbers may be floats":         {`{spec: {replicas: 3.0, port: 3307.0}}`, func(g *api.Group) { g.Primary.Port, g.Replicas[0].Port, g.Replicas[1].Port = 3307, 3307, 3307 }},
		"null is as good as nothing":    {`{spec: {port: null, tls: null, rootPasswordSecretKeyRef: null, replication: {replica: {recovery: null}}}, status: {conditions: null, replication: null}}`, func(*api.Group) {}},
		"fields that nobody here knows": {`{spec: {galera: [1], replication: {replica: {gtid: 7}}}, status: {replication: {errors: x}}}`, func(*api.Group) {}},
		"references that are filled in": {`{spec: {rootPasswordSecretKeyRef: {name: a, key: b, generate: true}, replication: {replica: {replPasswordSecretKeyRef: {name: c, key: d}}}}}`, func(g *api.Group) {
			g.Admin.Name, g.Admin.PasswordKey, g.Replication.Name, g.Replication.PasswordKey = "a", "b", "c", "d"
		}},
		"TLS": {`{spec: {tls: {enabled: true, required: true}}}`, func(g *api.Group) {
			g.TLS = api.TLSRef{Mode: "verify", CA: &api.SecretRef{Namespace: "ns", Name: "shop-ca-bundle"}, CAKey: "ca.crt"}
		}},
		"TLS that is off":                 {`{spec: {tls: {enabled: false}}}`, func(*api.Group) {}},
		"opted in by the field":           {`{spec: {replication: {replica: {recovery: {reconnectOnAuthError: true}}}}}`, func(g *api.Group) { g.OptedIn = true }},
		"opted in by the annotation":      {`{metadata: {annotations: {seedmend.dev/reconnect-on-auth-error: "true"}}}`, func(g *api.Group) { g.OptedIn = true }},
		"any other annotation is no word": {`{metadata: {annotations: {seedmend.dev/reconnect-on-auth-error: "yes"}}}`, func(*api.Group) {}},
		"a threshold":                     {`{spec: {replication: {replica: {recovery: {errorDurationThreshold: 90s}}}}}`, func(g *api.Group) { g.Threshold = 90 * time.Second }},
		"the annotation's goes before":    {`{metadata: {annotations: {seedmend.dev/error-duration-threshold: 1m}}, spec: {replication: {replica: {recovery: {enabled: true, errorDurationThreshold: 90s}}}}}`, func(g *api.Group) { g.Threshold, g.Rebuild = time.Minute, 90*time.Second }},
		"a threshold of nothing":          {`{metadata: {annotations: {seedmend.dev/error-duration-threshold: 0s}}}`, func(g *api.Group) { g.Threshold = 0 }},
		"the operator rebuilds":           {`{spec: {replication: {replica: {recovery: {enabled: true}}}}}`, func(g *api.Group) { g.Rebuild = 5 * time.Minute }},
		"switching":                       {`{status: {conditions: [{type: Ready, status: "False"}, {type: PrimarySwitched, status: "False"}]}}`, func(g *api.Group) { g.Switching = true }},
		"switched":                        {`{status: {conditions: [{type: PrimarySwitched, status: "True"}]}}`, func(*api.Group) {}},
		"roles decide":                    {`{status: {replication: {roles: {shop-0: Replica, shop-1: Primary, shop-2: Unknown}}}}`, func(g *api.Group) { g.Replicas = g.Replicas[:1] }},
		"the primary is no replica":       {`{status: {replication: {roles: {shop-0: Primary, shop-1: Replica, shop-2: Replica}}}}`, func(g *api.Group) { g.Replicas = g.Replicas[1:] }},
		"a pod that goes":                 {`{spec: {replicas: 2}, status: {replication: {roles: {shop-0: Replica, shop-2: Replica}}}}`, func(g *api.Group) { g.Replicas = g.Replicas[:1] }},
		"errors": {`{status: {replication: {replicas: {
				shop-0: {lastIOErrno: 1045, lastIOError: x, slaveIORunning: false, lastErrorTransitionTime: "2026-11-30T20:00:00+01:00"},
				shop-1: {lastIOErrno: 1},
				shop-2: {lastIOErrno: 0, lastErrorTransitionTime: "2026-11-30T20:00:00Z"}}}}}`, func(g *api.Group) {
			g.Replicas[0].Reported = &api.Reported{IOErrno: 1045, Since: time.Date(2026, 11, 30, 19, 0, 0, 0, time.UTC)}
			g.Replicas[1].Reported = &api.Reported{}
		}},
		"an error of unknown age": {`{status: {replication: {replicas: {shop-0: {lastIOErrno: 1045, lastErrorTransitionTime: null}, shop-2: {}}}}}`, func(g *api.Group) {
			g.Replicas[0].Reported = &api.Reported{IOErrno: 1045}
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			want := bare()
			test.want(&want)
			got, is := k8s.GroupOfMariaDB(mariaDB(t, test.over), "")
			require.True(t, is)
			require.Equal(t, want, got)
		})
	}
	other, _ := k8s.GroupOfMariaDB(mariaDB(t, ``), "example.org.")
	require.Equal(t, "shop-1.shop-internal.ns.svc.example.org", other.Primary.Host)
}

func TestAMariaDBWithoutReplicationIsNoGroup(t *testing.T) {
	for _, over := range []string{
		`{spec: {replication: {enabled: false}}}`, `{spec: {replication: {enabled: null}}}`, `{spec: {replication: null}}`, `{spec: null}`,
		`{spec: {replication: null}, status: 7}`,
	} {
		_, is := k8s.GroupOfMariaDB(mariaDB(t, over), "")
		require.False(t, is, over)
	}
}

// Whatever stands in the fields, it is told, and nothing else happens.
func TestOddMariaDBsAreInvalid(t *testing.T) {
	for over, invalid := range map[string]string{
		`{spec: [1]}`:                                   "spec is not an object.",
		`{spec: {replication: true}}`:                   "spec.replication is not an object.",
		`{spec: {replication: {enabled: "yes"}}}`:       "spec.replication.enabled is not true or false.",
		`{spec: {replicas: "3"}}`:                       "spec.replicas is not a whole number.",
		`{spec: {replicas: 1.5}}`:                       "spec.replicas is not a whole number.",
		`{spec: {replicas: -1}}`:                        "spec.replicas is -1; up to 256 are looked after.",
		`{spec: {replicas: 4000000000}}`:                "spec.replicas is 4000000000; up to 256 are looked after.",
		`{spec: {port: {}}}`:                            "spec.port is not a whole number.",
		`{spec: {port: 65536}}`:                         "spec.port is 65536, which is no port.",
		`{spec: {rootPasswordSecretKeyRef: shop}}`:      "spec.rootPasswordSecretKeyRef is not an object.",
		`{spec: {rootPasswordSecretKeyRef: {name: 1}}}`: "spec.rootPasswordSecretKeyRef.name is not a text.",
		`{spec: {tls: {enabled: 1}}}`:                   "spec.tls.enabled is not true or false.",
		`{spec: {replication: {replica: []}}}`:          "spec.replication.replica is not an object.",
		`{spec: {replication: {replica: {recovery: {errorDurationThreshold: 300}}}}}`:   "spec.replication.replica.recovery.errorDurationThreshold is not a text.",
		`{spec: {replication: {replica: {recovery: {errorDurationThreshold: "-1s"}}}}}`: `spec.replication.replica.recovery.errorDurationThreshold is "-1s"; it has to be a duration such as 5m or 90s, and not negative.`,
		`{metadata: {annotations: {seedmend.dev/error-duration-threshold: five}}}`:      `The annotation seedmend.dev/error-duration-threshold is "five"; it has to be a duration such as 5m or 90s, and not negative.`,
		`{status: null}`: "status.currentPrimaryPodIndex is not set: the operator knows no primary.",
		`{status: {currentPrimaryPodIndex: null}}`:                                                               "status.currentPrimaryPodIndex is not set: the operator knows no primary.",
		`{status: {currentPrimaryPodIndex: "0"}}`:                                                                "status.currentPrimaryPodIndex is not a whole number.",
		`{status: {currentPrimaryPodIndex: -1}}`:                                                                 "status.currentPrimaryPodIndex is -1, which is no pod of a group.",
		`{status: {conditions: {}}}`:                                                                             "status.conditions is not a list.",
		`{status: {conditions: [x]}}`:                                                                            "status.conditions holds something that is no condition.",
		`{status: {replication: {roles: [shop-0]}}}`:                                                             "status.replication.roles is not an object.",
		`{status: {replication: {roles: {shop-0: 1}}}}`:                                                          "status.replication.roles.shop-0 is not a text.",
		`{status: {replication: {roles: {cart-0: Replica}}}}`:                                                    `status.replication.roles names "cart-0", which is no pod of shop.`,
		`{status: {replication: {roles: {a/b: Replica}}}}`:                                                       `status.replication.roles names "a/b", which is no pod of shop.`,
		`{status: {replication: {roles: {shop--2: Replica}}}}`:                                                   `status.replication.roles names "shop--2", which is no pod of shop.`,
		`{status: {replication: {replicas: {shop-0: {lastIOErrno: "1045"}}}}}`:                                   "status.replication.replicas.shop-0.lastIOErrno is not a whole number.",
		`{status: {replication: {replicas: {shop-0: {lastIOErrno: 1045, lastErrorTransitionTime: yesterday}}}}}`: `status.replication.replicas.shop-0.lastErrorTransitionTime is "yesterday", which is no time.`,
	} {
		t.Run(over, func(t *testing.T) {
			got, is := k8s.GroupOfMariaDB(mariaDB(t, over), "")
			require.True(t, is)
			require.Equal(t, invalid, got.Invalid)
			require.Equal(t, "shop", got.Name)
		})
	}
}
