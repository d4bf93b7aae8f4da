// Package activities holds the steps of the world: each a method on a struct
// whose fields are its dependencies. A step may run twice, at any time, and be
// cut anywhere; what it finds half-made by itself it finishes.
package activities

import (
	"context"
	"errors"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
	"github.com/seedmend/seedmend/k8s"
)

// Cluster is what the steps need of the Kubernetes API.
type Cluster interface {
	// Request reads the live object; k8s.ErrGone where it does not exist.
	Request(ctx context.Context, namespace, name string) (req api.Request, terminal bool, err error)
	// ReadSecret fails with k8s.ErrNotFound where there is none.
	ReadSecret(ctx context.Context, ref api.SecretRef) (*corev1.Secret, error)
	DeleteSecret(ctx context.Context, ref api.SecretRef, uid, resourceVersion string) error
	LookOutputs(ctx context.Context, req api.Request) (k8s.Outputs, error)
	ApplySecret(ctx context.Context, req api.Request, out k8s.OutputSecret) (k8s.OutputSecret, error)
	ApplyService(ctx context.Context, req api.Request, host string, port int) (style string, err error)
	ApplyStatus(ctx context.Context, req api.Request, st api.Status) error
	ClusterUID(ctx context.Context) (string, error)
}

// Providers is the catalog of servers that providers name.
type Providers interface {
	// Match lists the enabled connections of that type, selector, host and port.
	Match(kind, selector, host string, port int) ([]api.Connection, error)
	ByReference(ref api.ConnectionRef) (api.Connection, bool)
}

// Events tells the tenant what happened.
type Events interface {
	Normal(req api.Request, reason, message string)
	Warning(req api.Request, reason, message string)
}

// Seeder holds the steps of ReconcileDatabase.
type Seeder struct {
	Cluster Cluster
	// Providers answers from the informers' caches.
	Providers Providers
	// LiveProviders asks the API; it confirms a miss before that becomes a hard
	// failure, since a cache may lag behind a provider applied just now.
	LiveProviders func(ctx context.Context) (Providers, error)
	Engines       map[string]database.Engine // by spec.type
	Events        Events
	Log           *slog.Logger

	seeds handoff
	quiet quiet
}

var _ api.SeedSteps = (*Seeder)(nil)

// NewSeeder returns a Seeder with working memory; the fields are set by the caller.
func NewSeeder() *Seeder {
	return &Seeder{seeds: newHandoff(handoffTTL), quiet: newQuiet(time.Minute)}
}

// admin is a provider's server with the means to log in to it.
func (s *Seeder) admin(c api.Connection) database.Admin {
	return database.Admin{
		Address:  database.Address{Host: c.Host, Port: c.Port},
		Username: c.AdminUser,
		Password: func(ctx context.Context) (string, error) { return s.adminPassword(ctx, c) },
	}
}

func (s *Seeder) adminPassword(ctx context.Context, c api.Connection) (string, error) {
	ref := c.PasswordSecret
	secret, err := s.Cluster.ReadSecret(ctx, ref)
	if errors.Is(err, k8s.ErrNotFound) {
		return "", api.Failf(api.ProviderCredentialsRejected, "the password Secret of provider %s, connection %s, does not exist", c.Provider, c.Connection).
			ForOperator("Secret %s/%s", ref.Namespace, ref.Name)
	}
	if err != nil {
		return "", err
	}
	password, ok := secret.Data["password"]
	if !ok || len(password) == 0 {
		return "", api.Failf(api.ProviderCredentialsRejected, "the password Secret of provider %s, connection %s, has no key password", c.Provider, c.Connection).
			ForOperator("Secret %s/%s", ref.Namespace, ref.Name)
	}
	return string(password), nil
}

func (s *Seeder) owner(ctx context.Context, req api.Request) (api.Owner, error) {
	uid, err := s.Cluster.ClusterUID(ctx)
	return api.Owner{UID: req.UID, Namespace: req.Namespace, Name: req.Name, Cluster: uid}, err
}

func (s *Seeder) engine(req api.Request) (database.Engine, error) {
	e, ok := s.Engines[req.Type]
	if !ok {
		return nil, api.Failf(api.UnsupportedType, "type %q is not served", req.Type)
	}
	return e, nil
}
