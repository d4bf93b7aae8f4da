package house

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

const (
	releaseName      = "mend"
	releaseNamespace = "databases"
)

// TestChartLints holds that Helm finds nothing to say about the chart.
func TestChartLints(t *testing.T) {
	helm(t, "lint", "--strict", "k8s/chart")
}

// TestChartRights holds what seedmend may do in a cluster, to the letter: a
// right more or less is a decision, and has to be made here as well.
func TestChartRights(t *testing.T) {
	objects := render(t)

	cluster := decode[rbacv1.ClusterRole](t, objects, "ClusterRole")
	require.ElementsMatch(t, []string{
		"crd.lagoon.sh/databaserequests: get list watch",
		"crd.lagoon.sh/databaserequests/status: patch",
		"crd.lagoon.sh/relationaldatabaseproviders: get list watch",
		"crd.lagoon.sh/databasemysqlproviders: get list watch",
		"seedmend.dev/replicationgroups: get list watch",
		"seedmend.dev/replicationgroups/status: patch",
		"k8s.mariadb.com/mariadbs: get list watch",
		"secrets: get create patch delete",
		"services: get create patch delete",
		"discovery.k8s.io/endpointslices: get create patch delete",
		"events: create patch",
		"namespaces kube-system: get",
	}, rights(cluster.Rules))

	leader := decode[rbacv1.Role](t, objects, "Role")
	require.Equal(t, releaseNamespace, leader.Namespace)
	require.ElementsMatch(t, []string{
		"coordination.k8s.io/leases: create",
		"coordination.k8s.io/leases seedmend-watcher: get update",
	}, rights(leader.Rules))
	require.Contains(t, read(t, "starter/leader.go"), `"seedmend-watcher"`, "the Lease has another name now")

	account := decode[corev1.ServiceAccount](t, objects, "ServiceAccount")
	deployment := decode[appsv1.Deployment](t, objects, "Deployment")
	require.Equal(t, account.Name, deployment.Spec.Template.Spec.ServiceAccountName)
	for _, binding := range []struct {
		ref      rbacv1.RoleRef
		subjects []rbacv1.Subject
		role     string
	}{
		{decode[rbacv1.ClusterRoleBinding](t, objects, "ClusterRoleBinding").RoleRef,
			decode[rbacv1.ClusterRoleBinding](t, objects, "ClusterRoleBinding").Subjects, cluster.Name},
		{decode[rbacv1.RoleBinding](t, objects, "RoleBinding").RoleRef,
			decode[rbacv1.RoleBinding](t, objects, "RoleBinding").Subjects, leader.Name},
	} {
		require.Equal(t, binding.role, binding.ref.Name)
		require.Equal(t, []rbacv1.Subject{{Kind: "ServiceAccount", Name: account.Name, Namespace: releaseNamespace}}, binding.subjects)
	}
}

// TestChartNeverListsSecrets holds the one right that must not come, in
// whatever spelling and with whatever values.
func TestChartNeverListsSecrets(t *testing.T) {
	for _, values := range [][]string{nil, {"leaderElection.enabled=false"}, {"metrics.serviceMonitor.enabled=true"}} {
		objects := render(t, values...)
		for _, object := range objects {
			var role rbacv1.ClusterRole // a Role has the same rules
			require.NoError(t, yaml.Unmarshal(object.text, &role))
			require.Empty(t, overreach(role.Rules), "%s %s", object.Kind, object.Metadata.Name)
		}
	}

	for verb, rule := range map[string]rbacv1.PolicyRule{
		"list":           {APIGroups: []string{""}, Resources: []string{"pods", "secrets"}, Verbs: []string{"get", "list"}},
		"watch":          {APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"watch"}},
		"any verb":       {APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"*"}},
		"any resource":   {APIGroups: []string{""}, Resources: []string{"*"}, Verbs: []string{"list"}},
		"any group":      {APIGroups: []string{"*"}, Resources: []string{"secrets"}, Verbs: []string{"list"}},
		"all at once":    {APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"deletecollection"}},
		"impersonate":    {APIGroups: []string{""}, Resources: []string{"users"}, Verbs: []string{"impersonate"}},
		"escalate roles": {APIGroups: []string{"rbac.authorization.k8s.io"}, Resources: []string{"roles"}, Verbs: []string{"escalate"}},
	} {
		require.NotEmpty(t, overreach([]rbacv1.PolicyRule{rule}), verb)
	}
}

// TestChartPods holds how the pods run.
func TestChartPods(t *testing.T) {
	objects := render(t)
	deployment := decode[appsv1.Deployment](t, objects, "Deployment")
	require.EqualValues(t, 2, *deployment.Spec.Replicas)
	pod := deployment.Spec.Template.Spec
	require.True(t, *pod.SecurityContext.RunAsNonRoot)
	require.EqualValues(t, 40, *pod.TerminationGracePeriodSeconds)
	require.NotEmpty(t, pod.TopologySpreadConstraints)
	require.Len(t, pod.Containers, 1)
	c := pod.Containers[0]
	require.True(t, *c.SecurityContext.ReadOnlyRootFilesystem)
	require.False(t, *c.SecurityContext.AllowPrivilegeEscalation)
	require.Equal(t, []corev1.Capability{"ALL"}, c.SecurityContext.Capabilities.Drop)
	require.Equal(t, "/livez", c.LivenessProbe.HTTPGet.Path)
	require.Equal(t, "/readyz", c.ReadinessProbe.HTTPGet.Path)
	require.Equal(t, []string{"health=8080", "metrics=9090"}, ports(c))
	require.False(t, c.Resources.Limits.Memory().IsZero())
	require.Equal(t, "run", c.Args[0])

	budget := decode[policyv1.PodDisruptionBudget](t, objects, "PodDisruptionBudget")
	require.Equal(t, deployment.Spec.Selector.MatchLabels, budget.Spec.Selector.MatchLabels)
}

// TestChartFlagsExist holds that the binary knows every flag that the chart and
// the Compose file give it.
func TestChartFlagsExist(t *testing.T) {
	help := string(run(t, "go", "run", "./cmd/seedmend", "run", "--help"))
	args := decode[appsv1.Deployment](t, render(t), "Deployment").Spec.Template.Spec.Containers[0].Args[1:]
	for _, m := range regexp.MustCompile(`"(--[a-z-]+=[^"]*)"`).FindAllStringSubmatch(read(t, "docker-compose.yaml"), -1) {
		args = append(args, m[1])
	}
	for _, arg := range args {
		flag, _, _ := strings.Cut(arg, "=")
		require.Regexp(t, regexp.QuoteMeta(flag)+`\b`, help)
	}
}

// TestChartTemporalSettings holds that credentials reach the pod by reference.
func TestChartTemporalSettings(t *testing.T) {
	objects := render(t, "temporal.address=a.tmprl.cloud:7233", "temporal.namespace=prod.a1", "temporal.tls.serverName=a",
		"temporal.tls.clientSecret=client", "temporal.tls.caSecret=ca", "temporal.apiKeySecret.name=key")
	pod := decode[appsv1.Deployment](t, objects, "Deployment").Spec.Template.Spec
	env := map[string]string{}
	for _, e := range pod.Containers[0].Env {
		env[e.Name] = e.Value
		if e.ValueFrom != nil {
			env[e.Name] = "Secret " + e.ValueFrom.SecretKeyRef.Name + "/" + e.ValueFrom.SecretKeyRef.Key
		}
	}
	require.Equal(t, map[string]string{
		"TEMPORAL_ADDRESS":                 "a.tmprl.cloud:7233",
		"TEMPORAL_NAMESPACE":               "prod.a1",
		"TEMPORAL_TLS":                     "true",
		"TEMPORAL_TLS_SERVER_NAME":         "a",
		"TEMPORAL_TLS_CLIENT_CERT_PATH":    "/etc/temporal/client/tls.crt",
		"TEMPORAL_TLS_CLIENT_KEY_PATH":     "/etc/temporal/client/tls.key",
		"TEMPORAL_TLS_SERVER_CA_CERT_PATH": "/etc/temporal/ca/ca.crt",
		"TEMPORAL_API_KEY":                 "Secret key/api-key",
	}, env)
	secrets := map[string]string{}
	for _, v := range pod.Volumes {
		secrets[v.Name] = v.Secret.SecretName
	}
	for _, m := range pod.Containers[0].VolumeMounts {
		require.Contains(t, secrets, m.Name)
	}
	require.Equal(t, map[string]string{"temporal-client": "client", "temporal-ca": "ca"}, secrets)
}

// TestChartRefusesUnknownValues shows that a misspelt value is an error.
func TestChartRefusesUnknownValues(t *testing.T) {
	for _, bad := range []string{"replica=3", "temporal.adress=x", "log.level=loud", "deadline=soon", "temporal.address="} {
		_, _, err := try(t, "go", helmArgs("template", releaseName, "k8s/chart", "--kube-version", kubeVersion, "--set", bad)...)
		require.Error(t, err, bad)
	}
}

// TestChartCRDs holds that the chart brings the CRDs of k8s/crds, that Helm
// keeps them when a release goes, and that they can be left out.
func TestChartCRDs(t *testing.T) {
	sources, err := filepath.Glob(filepath.Join(root, "k8s/crds/*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, sources)
	copies, err := filepath.Glob(filepath.Join(root, "k8s/chart/files/crds/*.yaml"))
	require.NoError(t, err)
	require.Len(t, copies, len(sources), "run `make generate`")

	objects := render(t)
	for _, source := range sources {
		want, err := os.ReadFile(source)
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(root, "k8s/chart/files/crds", filepath.Base(source)))
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), "run `make generate`")

		var crd map[string]any
		require.NoError(t, yaml.Unmarshal(want, &crd))
		metadata := crd["metadata"].(map[string]any)
		metadata["annotations"].(map[string]any)["helm.sh/resource-policy"] = "keep"
		i := slices.IndexFunc(objects, func(o object) bool { return o.Metadata.Name == metadata["name"] })
		require.GreaterOrEqual(t, i, 0, "%s is not rendered", source)
		var is map[string]any
		require.NoError(t, yaml.Unmarshal(objects[i].text, &is))
		require.Equal(t, crd, is)
	}
	for _, o := range render(t, "crds.install=false") {
		require.NotEqual(t, "CustomResourceDefinition", o.Kind)
	}
}

type object struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
	text     []byte
}

const kubeVersion = "1.34.0"

func helmArgs(args ...string) []string {
	return append([]string{"tool", "-modfile=tools/helm/go.mod", "helm"}, args...)
}

func helm(t *testing.T, args ...string) []byte {
	t.Helper()
	return run(t, "go", helmArgs(args...)...)
}

// rendered keeps what the chart came to with some values: Helm takes a second.
var rendered = map[string][]object{}

func render(t *testing.T, values ...string) []object {
	t.Helper()
	key := strings.Join(values, ",")
	if known, ok := rendered[key]; ok {
		return known
	}
	args := []string{"template", releaseName, "k8s/chart", "--namespace", releaseNamespace, "--kube-version", kubeVersion}
	for _, v := range values {
		args = append(args, "--set", v)
	}
	var objects []object
	for text := range strings.SplitSeq("\n"+string(helm(t, args...)), "\n---\n") {
		o := object{text: []byte(text)}
		require.NoError(t, yaml.Unmarshal(o.text, &o))
		if o.Kind != "" {
			objects = append(objects, o)
		}
	}
	require.NotEmpty(t, objects)
	rendered[key] = objects
	return objects
}

// decode finds the one object of a kind, strictly: a misspelt field is an error.
func decode[T any](t *testing.T, objects []object, kind string) T {
	t.Helper()
	var out T
	found := 0
	for _, o := range objects {
		if o.Kind == kind {
			found++
			require.NoError(t, yaml.UnmarshalStrict(o.text, &out))
		}
	}
	require.Equal(t, 1, found, "objects of kind %s", kind)
	return out
}

func rights(rules []rbacv1.PolicyRule) []string {
	var all []string
	for _, r := range rules {
		for _, group := range r.APIGroups {
			for _, resource := range r.Resources {
				what := strings.TrimPrefix(group+"/"+resource, "/")
				for _, name := range r.ResourceNames {
					what += " " + name
				}
				all = append(all, what+": "+strings.Join(r.Verbs, " "))
			}
		}
	}
	return all
}

func overreach(rules []rbacv1.PolicyRule) []string {
	var found []string
	for _, right := range rights(rules) {
		what, verbs, _ := strings.Cut(right, ": ")
		for verb := range strings.FieldsSeq(verbs) {
			secrets := what == "secrets" || what == "*/secrets"
			switch {
			case strings.Contains(what, "*"), verb == "*", verb == "impersonate", verb == "escalate", verb == "bind",
				secrets && (verb == "list" || verb == "watch" || verb == "deletecollection"):
				found = append(found, right)
			}
		}
	}
	return found
}

func ports(c corev1.Container) []string {
	var all []string
	for _, p := range c.Ports {
		all = append(all, fmt.Sprintf("%s=%d", p.Name, p.ContainerPort))
	}
	return all
}
