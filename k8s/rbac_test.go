package k8s_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s"
	"github.com/seedmend/seedmend/tests/lab"
)

// limited is a user with the least role that does all of this package.
var limited = lab.User{Name: "limited"}

func rule(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

// leastRules ask for no list and no watch of Secrets.
var leastRules = []rbacv1.PolicyRule{
	rule("crd.lagoon.sh", "databaserequests", "get", "list", "watch"),
	rule("crd.lagoon.sh", "databaserequests/status", "patch"),
	rule("crd.lagoon.sh", "relationaldatabaseproviders", "list", "watch"),
	rule("crd.lagoon.sh", "databasemysqlproviders", "list", "watch"),
	rule("seedmend.dev", "replicationgroups", "get", "list", "watch"),
	rule("seedmend.dev", "replicationgroups/status", "patch"),
	rule("k8s.mariadb.com", "mariadbs", "get", "list", "watch"),
	rule("", "secrets", "get", "create", "patch", "delete"),
	rule("", "services", "get", "create", "patch", "delete"),
	rule("discovery.k8s.io", "endpointslices", "get", "create", "patch", "delete"),
	rule("", "events", "create", "patch"),
	rule("", "namespaces", "get"),
}

func TestTheLeastRoleIsEnough(t *testing.T) {
	admin, kube := cluster(t)
	ctx := ctxFor(t)
	cfg, err := kube.ConfigFor(limited.Name)
	require.NoError(t, err)
	c, err := k8s.New(cfg)
	require.NoError(t, err)

	ns := namespace(t, admin)
	obj := created(t, admin, request(ns, "limited"))
	req := k8s.Snapshot(obj)
	_, err = c.LookOutputs(ctx, req)
	require.Equal(t, api.ClusterAPIError, failureOf(t, err).Reason)
	require.Equal(t, "seedmend may not get secrets in namespace "+ns+": its role lacks that.", failureOf(t, err).Message)
	_, err = c.LiveCatalog(ctx)
	require.Equal(t, "seedmend may not list relationaldatabaseproviders.crd.lagoon.sh: its role lacks that.", failureOf(t, err).Message)

	_, err = admin.Kube.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "least"}, Rules: leastRules}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = admin.Kube.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "least"},
		RoleRef:    rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "least"},
		Subjects:   []rbacv1.Subject{{Kind: "User", APIGroup: "rbac.authorization.k8s.io", Name: limited.Name}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	soon(t, 10*time.Second, "the role is in force", func() bool { _, err := c.LookOutputs(ctx, req); return err == nil })

	w := runWatch(t, c, k8s.WatchOptions{MySQLNamespaces: []string{ns}})
	soon(t, 10*time.Second, "synced", w.Synced)
	_, err = c.LiveCatalog(ctx, ns)
	require.NoError(t, err)
	g := k8s.GroupOf(createdGroup(t, admin, group(ns, "limited")))
	soon(t, 5*time.Second, "groups are watched", func() bool {
		return slices.ContainsFunc(w.Groups(), func(one api.Group) bool { return one.UID == g.UID })
	})
	require.NoError(t, c.UpdateReplicas(ctx, g, entries(well, "r1")))
	_, err = c.Group(ctx, g.GroupRef)
	require.NoError(t, err)
	_, err = c.Group(ctx, api.GroupRef{Kind: api.KindMariaDB, Namespace: ns, Name: "none"})
	require.ErrorIs(t, err, k8s.ErrGone)
	everyWrite(t, c, obj)
	everyWrite(t, c, obj)
	for _, host := range []string{"10.0.0.5", "2001:db8::5"} { // made anew in between
		_, err = c.ApplyService(ctx, req, host, 3306)
		require.NoError(t, err)
	}
	secret, err := c.ReadSecret(ctx, api.SecretRef{Namespace: ns, Name: "limited"})
	require.NoError(t, err)
	require.NoError(t, c.DeleteSecret(ctx, api.SecretRef{Namespace: ns, Name: "limited"}, string(secret.UID), secret.ResourceVersion))
	uid, err := c.ClusterUID(ctx)
	require.NoError(t, err)
	require.NotEmpty(t, uid)
	events, err := admin.Kube.CoreV1().Events(ns).List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	require.NotEmpty(t, events.Items)
}
