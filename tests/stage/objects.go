package stage

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
	"github.com/seedmend/seedmend/tests/lab"
)

// ProviderNamespace is where the providers' password Secrets stand.
const ProviderNamespace = "seedmend"

// Provider makes a provider of type mysql, whose connections are the named servers.
func (s *Stage) Provider(ctx context.Context, name, selector string, servers ...*lab.MariaDB) error {
	p := &v1alpha1.RelationalDatabaseProvider{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.Type, p.Spec.Selector = "mysql", selector
	for _, m := range servers {
		secret := name + "-" + m.Name
		if err := s.Secret(ctx, ProviderNamespace, secret, map[string]string{"password": m.RootPassword}); err != nil {
			return err
		}
		p.Spec.Connections = append(p.Spec.Connections, Connection(m.Name, "localhost", m.Port, m.RootUser, secret))
	}
	_, err := s.Client.RelationalDatabaseProviders().Create(ctx, p, metav1.CreateOptions{})
	return err
}

// Connection is one connection of a provider.
func Connection(name, host string, port int, user, secret string) v1alpha1.Connection {
	enabled := true
	return v1alpha1.Connection{
		Name: name, Hostname: host, Port: int32(port), Username: user, Enabled: &enabled,
		PasswordSecretRef: v1alpha1.SecretReference{Namespace: ProviderNamespace, Name: secret},
	}
}

// Secret makes a Secret.
func (s *Stage) Secret(ctx context.Context, namespace, name string, values map[string]string) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string][]byte{}}
	for k, v := range values {
		secret.Data[k] = []byte(v)
	}
	_, err := s.Client.Kube.CoreV1().Secrets(namespace).Create(ctx, secret, metav1.CreateOptions{})
	return err
}

// SeedFor is a seed for a server.
func SeedFor(m *lab.MariaDB, database, username, password string) map[string]string {
	return map[string]string{
		"database": database, "username": username, "password": password,
		"hostname": "localhost", "port": strconv.Itoa(m.Port),
	}
}

// Request makes a DatabaseRequest of type mariadb with selector development
// and the seed "<name>-seed"; change says what is different.
func (s *Stage) Request(ctx context.Context, namespace, name string, change ...func(*v1alpha1.DatabaseRequest)) (*v1alpha1.DatabaseRequest, error) {
	r := &v1alpha1.DatabaseRequest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	r.Spec = v1alpha1.DatabaseRequestSpec{
		Name: name, Selector: "development", Type: "mariadb",
		Seed: &v1alpha1.SecretReference{Namespace: namespace, Name: name + "-seed"},
	}
	for _, c := range change {
		c(r)
	}
	return s.Client.DatabaseRequests(namespace).Create(ctx, r, metav1.CreateOptions{})
}

// Get reads a request.
func (s *Stage) Get(ctx context.Context, namespace, name string) (*v1alpha1.DatabaseRequest, error) {
	return s.Client.DatabaseRequests(namespace).Get(ctx, name, metav1.GetOptions{})
}

// Settled waits until a request is Ready or failed at its present generation.
func (s *Stage) Settled(ctx context.Context, namespace, name string) (*v1alpha1.DatabaseRequest, error) {
	var r *v1alpha1.DatabaseRequest
	err := Eventually(ctx, func() (err error) {
		if r, err = s.Get(ctx, namespace, name); err != nil {
			return err
		}
		for _, c := range []string{api.ConditionReady, api.ConditionError} {
			if got := meta.FindStatusCondition(r.Status.Conditions, c); got != nil && got.Status == metav1.ConditionTrue && got.ObservedGeneration == r.Generation {
				return nil
			}
		}
		return fmt.Errorf("%s/%s is not settled: %+v", namespace, name, r.Status.Conditions)
	})
	return r, err
}
