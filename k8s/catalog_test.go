package k8s_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
)

func connection(name, host string, port int32) v1alpha1.Connection {
	return v1alpha1.Connection{Name: name, Hostname: host, Port: port, Username: "root",
		PasswordSecretRef: v1alpha1.SecretReference{Name: "admin", Namespace: "vault"}}
}

func TestCatalog(t *testing.T) {
	c, _ := cluster(t)
	ctx := ctxFor(t)
	trusted, tenant := namespace(t, c), namespace(t, c)
	mine := trusted // a selector that no other test uses
	provider := func(name, kind string, connections ...v1alpha1.Connection) {
		obj, err := c.RelationalDatabaseProviders().Create(ctx, &v1alpha1.RelationalDatabaseProvider{
			ObjectMeta: metav1.ObjectMeta{Name: name + "-" + mine},
			Spec:       v1alpha1.RelationalDatabaseProviderSpec{Type: kind, Selector: mine, Connections: connections},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		t.Cleanup(func() {
			require.NoError(t, c.RelationalDatabaseProviders().Delete(context.Background(), obj.Name, metav1.DeleteOptions{}))
		})
	}
	older := func(namespace, name string, connections ...v1alpha1.Connection) {
		_, err := c.DatabaseMySQLProviders(namespace).Create(ctx, &v1alpha1.DatabaseMySQLProvider{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       v1alpha1.DatabaseMySQLProviderSpec{Scope: mine, Connections: connections},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	off := connection("off", "off.example.com", 3306)
	off.Enabled = ptr(false)
	replicated := connection("one", "DB1.Example.com.", 0)
	replicated.ReplicaHostnames = []string{"r1", "r2"}
	provider("my", "mysql", replicated, connection("two", "db2.example.com", 3307), connection("six", "2001:DB8::5", 3306), off)
	provider("pg", "postgres", connection("one", "db1.example.com", 0))
	provider("double", "mysql", connection("one", "db2.example.com", 3307))
	local := connection("one", "old.example.com", 3306)
	local.PasswordSecretRef.Namespace = ""
	older(trusted, "older", local)
	older(tenant, "evil", connection("one", "evil.example.com", 3306))

	w := runWatch(t, c, k8s.WatchOptions{ProvidersOnly: true, MySQLNamespaces: []string{trusted, trusted}})
	soon(t, 10*time.Second, "synced", w.Synced)
	require.Nil(t, w.Requests())
	fromAPI, err := w.Catalog().Live(ctx)
	require.NoError(t, err)
	for name, catalog := range map[string]*k8s.Catalog{"informer": w.Catalog(), "live": fromAPI} {
		t.Run(name, func(t *testing.T) {
			names := func(kind, selector, host string, port int) []api.ConnectionRef {
				found, err := catalog.Match(kind, selector, host, port)
				require.NoError(t, err)
				var out []api.ConnectionRef
				for _, f := range found {
					out = append(out, f.ConnectionRef)
				}
				return out
			}
			one := api.ConnectionRef{Provider: "my-" + mine, Connection: "one"}
			require.Equal(t, []api.ConnectionRef{one}, names("mysql", mine, "db1.example.com", 0))
			require.Equal(t, []api.ConnectionRef{one}, names("mariadb", mine, "db1.EXAMPLE.com.", 3306))
			require.Empty(t, names("mysql", mine, "db1.example.com", 3307), "another port")
			require.Empty(t, names("mysql", "another", "db1.example.com", 3306), "another selector")
			require.Empty(t, names("mysql", mine, "off.example.com", 3306), "not enabled")
			require.Empty(t, names("mysql", mine, "evil.example.com", 3306), "a tenant cannot name servers")
			require.Empty(t, names("mongodb", mine, "db1.example.com", 0))
			require.Equal(t, []api.ConnectionRef{{Provider: "pg-" + mine, Connection: "one"}}, names("postgres", mine, "db1.example.com", 5432))
			require.Len(t, names("mysql", mine, "db2.example.com", 3307), 2, "ambiguous")
			require.Len(t, names("mysql", mine, "[2001:db8:0::5]", 0), 1)
			require.Equal(t, []api.ConnectionRef{{Provider: trusted + "/older", Connection: "one"}}, names("mysql", mine, "old.example.com", 0))

			found, ok := catalog.ByReference(one)
			require.True(t, ok)
			require.Equal(t, api.Connection{
				ConnectionRef: one, ProviderKind: "RelationalDatabaseProvider", Host: "db1.example.com", Port: 3306, AdminUser: "root",
				PasswordSecret: api.SecretRef{Namespace: "vault", Name: "admin"}, ReplicaHosts: []string{"r1", "r2"},
			}, found)
			found, ok = catalog.ByReference(api.ConnectionRef{Provider: trusted + "/older", Connection: "one"})
			require.True(t, ok)
			require.Equal(t, api.SecretRef{Namespace: trusted, Name: "admin"}, found.PasswordSecret, "its own namespace")
			require.Equal(t, "DatabaseMySQLProvider", found.ProviderKind)
			_, ok = catalog.ByReference(api.ConnectionRef{Provider: "my-" + mine, Connection: "off"})
			require.True(t, ok, "disabled, but there")
			_, ok = catalog.ByReference(api.ConnectionRef{Provider: "older", Connection: "one"})
			require.False(t, ok)
		})
	}

	// The informer follows.
	obj, err := c.DatabaseMySQLProviders(trusted).Get(ctx, "older", metav1.GetOptions{})
	require.NoError(t, err)
	obj.Spec.Connections[0].Hostname = "new.example.com"
	_, err = c.DatabaseMySQLProviders(trusted).Update(ctx, obj, metav1.UpdateOptions{})
	require.NoError(t, err)
	soon(t, 5*time.Second, "followed", func() bool {
		found, err := w.Catalog().Match("mysql", mine, "new.example.com", 0)
		return err == nil && len(found) == 1
	})
}

func TestClusterUID(t *testing.T) {
	c, _ := cluster(t)
	uid, err := c.ClusterUID(ctxFor(t))
	require.NoError(t, err)
	ns, err := c.Kube.CoreV1().Namespaces().Get(ctxFor(t), "kube-system", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, string(ns.UID), uid)
}
