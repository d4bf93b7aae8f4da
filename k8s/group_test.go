package k8s_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s"
	"github.com/seedmend/seedmend/k8s/mendv1alpha1"
)

// group is a sound ReplicationGroup.
func group(ns, name string, change ...func(*mendv1alpha1.ReplicationGroup)) *mendv1alpha1.ReplicationGroup {
	obj := &mendv1alpha1.ReplicationGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		Spec: mendv1alpha1.ReplicationGroupSpec{
			Primary: mendv1alpha1.Endpoint{Host: "db-0.example.com"},
			Replicas: []mendv1alpha1.Replica{
				{Name: "r1", Endpoint: mendv1alpha1.Endpoint{Host: "db-1.example.com"}},
				{Name: "r2", Endpoint: mendv1alpha1.Endpoint{Host: "db-2.example.com", Port: 3307}, Channel: "from-db-0"},
			},
			AdminSecretRef:       mendv1alpha1.SecretReference{Name: "admin"},
			ReplicationSecretRef: mendv1alpha1.SecretReference{Name: "replication"},
		},
	}
	for _, c := range change {
		c(obj)
	}
	return obj
}

func minutes(n int) *metav1.Duration {
	return &metav1.Duration{Duration: time.Duration(n) * time.Minute}
}

func TestGroupOf(t *testing.T) {
	obj := group("ns", "g", func(g *mendv1alpha1.ReplicationGroup) { g.UID, g.Generation = "u", 3 })
	bare := api.Group{
		GroupRef: api.GroupRef{Kind: "ReplicationGroup", Namespace: "ns", Name: "g"},
		UID:      "u", Generation: 3,
		Primary: api.Endpoint{Host: "db-0.example.com", Port: 3306},
		Replicas: []api.GroupReplica{
			{Name: "r1", Endpoint: api.Endpoint{Host: "db-1.example.com", Port: 3306}},
			{Name: "r2", Channel: "from-db-0", Endpoint: api.Endpoint{Host: "db-2.example.com", Port: 3307}},
		},
		Admin:       api.CredentialRef{SecretRef: api.SecretRef{Namespace: "ns", Name: "admin"}, UsernameKey: "username", PasswordKey: "password"},
		Replication: api.CredentialRef{SecretRef: api.SecretRef{Namespace: "ns", Name: "replication"}, UsernameKey: "username", PasswordKey: "password"},
		Threshold:   5 * time.Minute, DrainTimeout: 10 * time.Minute,
	}
	require.Equal(t, bare, k8s.GroupOf(obj))

	since := metav1.Date(2026, 11, 30, 20, 0, 0, 0, time.FixedZone("", 3600))
	obj.Spec.TLS = &mendv1alpha1.TLS{Mode: "verify", CASecretRef: &mendv1alpha1.CAReference{Name: "ca"}}
	obj.Spec.Recovery = mendv1alpha1.Recovery{ReconnectOnAuthError: true, ErrorDurationThreshold: minutes(0), DrainTimeout: minutes(1)}
	obj.Status.Replicas = []mendv1alpha1.ReplicaStatus{
		{Name: "r1", Channel: "other", IOErrno: 1},
		{Name: "r1", IOErrno: 1045, Since: &since},
		{Name: "r2", Channel: "from-db-0", IOErrno: 2003, Since: &since},
	}
	full := bare
	full.OptedIn, full.Threshold, full.DrainTimeout = true, 0, time.Minute
	full.TLS = api.TLSRef{Mode: "verify", CA: &api.SecretRef{Namespace: "ns", Name: "ca"}, CAKey: "ca.crt"}
	full.Replicas = []api.GroupReplica{bare.Replicas[0], bare.Replicas[1]}
	full.Replicas[0].Reported = &api.Reported{IOErrno: 1045, Since: since.UTC()}
	full.Replicas[1].Reported = &api.Reported{IOErrno: 2003}
	require.Equal(t, full, k8s.GroupOf(obj))

	obj.Spec.Primary.Host = "[2001:DB8::1]"
	require.Equal(t, "2001:DB8::1", k8s.GroupOf(obj).Primary.Host, "as a server has it")
}

func TestWhatNoSchemaOfAGroupChecks(t *testing.T) {
	type spec = mendv1alpha1.ReplicationGroupSpec
	for sentence, test := range map[string]struct {
		change  func(*spec)
		invalid string
	}{
		"sound":                      {func(*spec) {}, ""},
		"two channels of one":        {func(s *spec) { s.Replicas[1].Endpoint = s.Replicas[0].Endpoint }, ""},
		"two names for one channel":  {func(s *spec) { s.Replicas[0].Channel = "FROM-db-0"; s.Replicas[0].Endpoint = s.Replicas[1].Endpoint }, "Replicas r1 and r2 are one and the same channel of one server: db-2.example.com, port 3307."},
		"the primary follows itself": {func(s *spec) { s.Replicas[0].Host = "DB-0.example.com." }, "Replica r1 is the primary itself: DB-0.example.com., port 3306."},
		"no primary":                 {func(s *spec) { s.Primary.Host = " " }, "spec.primary.host is not set."},
		"no replica":                 {func(s *spec) { s.Replicas = nil }, "spec.replicas names no replica."},
		"a replica without a host":   {func(s *spec) { s.Replicas[0].Host = "" }, "The host of replica r1 is not set."},
		"a replica without a name":   {func(s *spec) { s.Replicas[0].Name = "" }, `spec.replicas has a replica named ""; a name has no slash, and is not empty.`},
		"a slash in a name":          {func(s *spec) { s.Replicas[0].Name = "a/b" }, `spec.replicas has a replica named "a/b"; a name has no slash, and is not empty.`},
		"no admin":                   {func(s *spec) { s.AdminSecretRef.Name = "" }, "spec.adminSecretRef names no Secret."},
		"no replication user":        {func(s *spec) { s.ReplicationSecretRef.Name = "" }, "spec.replicationSecretRef names no Secret."},
		"a negative threshold":       {func(s *spec) { s.Recovery.ErrorDurationThreshold = minutes(-1) }, "spec.recovery.errorDurationThreshold (-1m0s) is negative."},
		"a negative drain timeout":   {func(s *spec) { s.Recovery.DrainTimeout = minutes(-1) }, "spec.recovery.drainTimeout (-1m0s) is negative."},
	} {
		t.Run(sentence, func(t *testing.T) {
			require.Equal(t, test.invalid, k8s.GroupOf(group("ns", "g", func(g *mendv1alpha1.ReplicationGroup) { test.change(&g.Spec) })).Invalid)
		})
	}
}
