package stage

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// grant gives seedmend's identity the rights that its chart gives it, no more.
func (s *Stage) grant(ctx context.Context) error {
	if err := s.Namespace(ctx, "seedmend"); err != nil {
		return err
	}
	lagoon := []string{"crd.lagoon.sh"}
	core := []string{""}
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "seedmend"},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: lagoon, Resources: []string{"databaserequests"}, Verbs: []string{"get", "list", "watch"}},
			{APIGroups: lagoon, Resources: []string{"databaserequests/status"}, Verbs: []string{"patch"}},
			{APIGroups: lagoon, Resources: []string{"relationaldatabaseproviders", "databasemysqlproviders"}, Verbs: []string{"get", "list", "watch"}},
			{APIGroups: []string{"seedmend.dev"}, Resources: []string{"replicationgroups"}, Verbs: []string{"get", "list", "watch"}},
			{APIGroups: []string{"seedmend.dev"}, Resources: []string{"replicationgroups/status"}, Verbs: []string{"patch"}},
			{APIGroups: []string{"k8s.mariadb.com"}, Resources: []string{"mariadbs"}, Verbs: []string{"get", "list", "watch"}},
			{APIGroups: []string{"seedmend.dev"}, Resources: []string{"replicationgroups"}, Verbs: []string{"get", "list", "watch"}},
			{APIGroups: []string{"seedmend.dev"}, Resources: []string{"replicationgroups/status"}, Verbs: []string{"patch"}},
			{APIGroups: []string{"k8s.mariadb.com"}, Resources: []string{"mariadbs"}, Verbs: []string{"get", "list", "watch"}},
			{APIGroups: core, Resources: []string{"secrets", "services"}, Verbs: []string{"get", "create", "patch", "delete"}},
			{APIGroups: []string{"discovery.k8s.io"}, Resources: []string{"endpointslices"}, Verbs: []string{"get", "create", "patch", "delete"}},
			{APIGroups: []string{"", "events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
			{APIGroups: core, Resources: []string{"namespaces"}, Verbs: []string{"get"}},
			{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get", "create", "update"}},
		},
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "seedmend"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "seedmend"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: s.user}},
	}
	rbac := s.Client.Kube.RbacV1()
	if _, err := rbac.ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return err
	}
	_, err := rbac.ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{})
	return err
}

// Namespace makes a namespace; one that exists is fine.
func (s *Stage) Namespace(ctx context.Context, name string) error {
	_, err := s.Client.Kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
