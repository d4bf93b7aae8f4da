package k8s

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/seedmend/seedmend/api"
)

// mariaDBResource is the mariadb-operator's kind. It is read without types of
// our own: an object that is not as expected must spoil nothing but itself.
var mariaDBResource = schema.GroupVersionResource{Group: "k8s.mariadb.com", Version: "v1alpha1", Resource: "mariadbs"}

// What the operator calls things where the resource does not say.
const (
	mariaDBRoot    = "root"
	mariaDBUser    = "repl"
	mariaDBChannel = "mariadb-operator"
	defaultDomain  = "cluster.local"
	// maxPods bounds what a nonsensical spec.replicas makes of us.
	maxPods = 256
)

func (c *Client) mariaDBs(namespace string) dynamic.ResourceInterface {
	return c.theirs.Resource(mariaDBResource).Namespace(namespace)
}

// GroupOfMariaDB is a MariaDB in the terms of package api; false where it has no
// replication. A field that is not of its type is told in Invalid.
func GroupOfMariaDB(obj *unstructured.Unstructured, clusterDomain string) (api.Group, bool) {
	f := &fields{object: obj.Object}
	if enabled := f.truth("spec", "replication", "enabled"); !enabled && f.odd == "" {
		return api.Group{}, false
	}
	m := mariaDB{fields: f, namespace: obj.GetNamespace(), name: obj.GetName(), domain: cmp.Or(strings.Trim(clusterDomain, "."), defaultDomain)}
	m.port = m.portNumber()
	group := api.Group{
		GroupRef:     api.GroupRef{Kind: api.KindMariaDB, Namespace: m.namespace, Name: m.name},
		UID:          string(obj.GetUID()),
		Generation:   obj.GetGeneration(),
		Admin:        m.credential(mariaDBRoot, m.name+"-root", "spec", "rootPasswordSecretKeyRef"),
		Replication:  m.credential(mariaDBUser, m.name+"-repl-password", "spec", "replication", "replica", "replPasswordSecretKeyRef"),
		DrainTimeout: api.DefaultDrainTimeout,
	}
	if f.truth("spec", "tls", "enabled") {
		group.TLS = api.TLSRef{Mode: "verify", CA: &api.SecretRef{Namespace: m.namespace, Name: m.name + "-ca-bundle"}, CAKey: defaultCAKey}
	}
	m.recovery(&group, obj.GetAnnotations())
	m.pods(&group)
	group.Invalid = f.odd
	return group, true
}

// mariaDB reads one object.
type mariaDB struct {
	*fields
	namespace, name, domain string
	port                    int
}

func (m mariaDB) portNumber() int {
	port, set := m.number("spec", "port")
	if set && (port < 1 || port > 65535) {
		m.complain("spec.port is %d, which is no port.", port)
	}
	return cmp.Or(int(port), defaultGroupPort)
}

func (m mariaDB) credential(user, secret string, path ...string) api.CredentialRef {
	return api.CredentialRef{
		SecretRef:   api.SecretRef{Namespace: m.namespace, Name: cmp.Or(m.text(append(path, "name")...), secret)},
		Username:    user,
		PasswordKey: cmp.Or(m.text(append(path, "key")...), passwordKey),
	}
}

// recovery reads what may be done, and when.
func (m mariaDB) recovery(group *api.Group, annotations map[string]string) {
	at := func(field string) []string { return []string{"spec", "replication", "replica", "recovery", field} }
	field := at("errorDurationThreshold")
	theirs := m.duration(strings.Join(field, "."), m.text(field...), api.DefaultThreshold)
	group.Threshold = m.duration("The annotation "+api.AnnotationThreshold, annotations[api.AnnotationThreshold], theirs)
	if m.truth(at("enabled")...) {
		group.Rebuild = theirs
	}
	group.OptedIn = m.truth(at("reconnectOnAuthError")...) || annotations[api.AnnotationReconnect] == "true"
}

func (m mariaDB) duration(what, text string, otherwise time.Duration) time.Duration {
	if text == "" {
		return otherwise
	}
	d, err := time.ParseDuration(strings.TrimSpace(text))
	if err != nil || d < 0 {
		m.complain("%s is %q; it has to be a duration such as 5m or 90s, and not negative.", what, text)
		return otherwise
	}
	return d
}

// pods finds the primary and the replicas.
func (m mariaDB) pods(group *api.Group) {
	for _, each := range m.list("status", "conditions") {
		c, ok := each.(map[string]any)
		if !ok {
			m.complain("status.conditions holds something that is no condition.")
		}
		if c["type"] == "PrimarySwitched" {
			group.Switching = c["status"] == string(metav1.ConditionFalse)
		}
	}
	primary, known := m.number("status", "currentPrimaryPodIndex")
	switch {
	case !known:
		m.complain("status.currentPrimaryPodIndex is not set: the operator knows no primary.")
		return
	case primary < 0 || primary >= maxPods:
		m.complain("status.currentPrimaryPodIndex is %d, which is no pod of a group.", primary)
		return
	}
	group.Primary = m.pod(primary)
	for _, index := range m.replicas() {
		if index == primary {
			continue
		}
		replica := api.GroupReplica{Name: m.podName(index), Channel: mariaDBChannel, Endpoint: m.pod(index)}
		replica.Reported = m.report(replica.Name)
		group.Replicas = append(group.Replicas, replica)
	}
}

// replicas are the pods of that role, or where the operator tells no roles, all.
func (m mariaDB) replicas() []int64 {
	count, sized := m.number("spec", "replicas")
	if count < 0 || count > maxPods {
		m.complain("spec.replicas is %d; up to %d are looked after.", count, maxPods)
		return nil
	}
	roles := m.section("status", "replication", "roles")
	var out []int64
	if len(roles) == 0 {
		for index := range count {
			out = append(out, index)
		}
		return out
	}
	for _, pod := range slices.Sorted(maps.Keys(roles)) {
		role, isText := roles[pod].(string)
		if !isText {
			m.complain("status.replication.roles.%s is not a text.", pod)
		}
		if role != "Replica" {
			continue
		}
		index, err := strconv.ParseInt(strings.TrimPrefix(pod, m.name+"-"), 10, 32)
		if err != nil || index < 0 || pod != m.podName(index) {
			m.complain("status.replication.roles names %q, which is no pod of %s.", pod, m.name)
			continue
		}
		if !sized || index < count { // else it is about to go
			out = append(out, index)
		}
	}
	slices.Sort(out)
	return out
}

func (m mariaDB) report(pod string) *api.Reported {
	at := func(field string) []string { return []string{"status", "replication", "replicas", pod, field} }
	errno, known := m.number(at("lastIOErrno")...)
	if !known {
		return nil
	}
	out := &api.Reported{IOErrno: int(errno)}
	since := m.text(at("lastErrorTransitionTime")...)
	if since == "" || errno == 0 {
		return out
	}
	when, err := time.Parse(time.RFC3339, since)
	if err != nil {
		m.complain("%s is %q, which is no time.", strings.Join(at("lastErrorTransitionTime"), "."), since)
		return out
	}
	out.Since = when.UTC()
	return out
}

func (m mariaDB) podName(index int64) string { return fmt.Sprintf("%s-%d", m.name, index) }

func (m mariaDB) pod(index int64) api.Endpoint {
	return api.Endpoint{Host: fmt.Sprintf("%s.%s-internal.%s.svc.%s", m.podName(index), m.name, m.namespace, m.domain), Port: m.port}
}
