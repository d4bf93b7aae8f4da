package activities

import (
	"context"
	"log/slog"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
	"github.com/seedmend/seedmend/k8s"
)

// world is a cluster, a provider and a server in memory. The real ones are in
// the end-to-end tests.
type world struct {
	secrets  map[string]*corev1.Secret
	reads    int
	held     k8s.OutputSecret
	lookErr  error
	live     api.Request
	liveErr  error
	terminal bool

	cached, asked []api.Connection // what the cache and the API have
	liveAsks      int

	statuses  []api.Status
	statusErr error
	deleted   []string
	deleteErr error
	written   k8s.OutputSecret
	applyErr  error
	told      []string

	probeErr error
	loginErr error
	logins   []database.Seed
	contacts int
}

func (w *world) Request(context.Context, string, string) (api.Request, bool, error) {
	return w.live, w.terminal, w.liveErr
}

func (w *world) ReadSecret(_ context.Context, ref api.SecretRef) (*corev1.Secret, error) {
	w.reads++
	s, ok := w.secrets[ref.Namespace+"/"+ref.Name]
	if !ok {
		return nil, k8s.ErrNotFound
	}
	return s, nil
}

func (w *world) DeleteSecret(_ context.Context, ref api.SecretRef, _, _ string) error {
	w.deleted = append(w.deleted, ref.Name)
	return w.deleteErr
}

func (w *world) LookOutputs(context.Context, api.Request) (k8s.Outputs, error) {
	return k8s.Outputs{Held: w.held}, w.lookErr
}

func (w *world) ApplySecret(_ context.Context, _ api.Request, out k8s.OutputSecret) (k8s.OutputSecret, error) {
	w.written = out
	return out, w.applyErr
}

func (w *world) ApplyService(context.Context, api.Request, string, int) (string, error) {
	return "ExternalName", nil
}

func (w *world) ApplyStatus(_ context.Context, _ api.Request, st api.Status) error {
	w.statuses = append(w.statuses, st)
	return w.statusErr
}

func (w *world) ClusterUID(context.Context) (string, error) { return "cluster", nil }

type catalog struct{ connections []api.Connection }

func (c catalog) Match(string, string, string, int) ([]api.Connection, error) {
	return c.connections, nil
}

func (c catalog) ByReference(ref api.ConnectionRef) (api.Connection, bool) {
	for _, x := range c.connections {
		if x.ConnectionRef == ref {
			return x, true
		}
	}
	return api.Connection{}, false
}

func (w *world) Normal(_ api.Request, reason, _ string)  { w.told = append(w.told, reason) }
func (w *world) Warning(_ api.Request, reason, _ string) { w.told = append(w.told, reason) }

// engine counts its contacts in the world.
type engine struct{ *world }

func (e engine) CheckNames(database.Seed, string) error { return nil }

func (e engine) Probe(ctx context.Context, admin database.Admin, _ database.Seed) (api.Facts, error) {
	e.contacts++
	if _, err := admin.Password(ctx); err != nil {
		return api.Facts{}, err
	}
	return api.Facts{Auth: api.LoginOK}, e.probeErr
}

func (e engine) Adopt(context.Context, database.Admin, api.Owner, database.Seed, string) error {
	e.contacts++
	return nil
}

func (e engine) Create(context.Context, database.Admin, api.Owner, database.Seed) error {
	e.contacts++
	return nil
}

func (e engine) Login(_ context.Context, _ database.Address, seed database.Seed) error {
	e.contacts++
	e.logins = append(e.logins, seed)
	return e.loginErr
}

func (e engine) Close() error { return nil }

var connection = api.Connection{
	ConnectionRef: api.ConnectionRef{Provider: "p", Connection: "c"}, Host: "db.example", Port: 3306,
	AdminUser: "admin", PasswordSecret: api.SecretRef{Namespace: "lagoon", Name: "admin"},
}

var request = api.Request{
	Namespace: "shop", Name: "mariadb", UID: "u", Generation: 2, ServiceName: "mariadb",
	Selector: "dev", Type: "mariadb", Seed: &api.SecretRef{Namespace: "shop", Name: "seed"},
}

func newWorld() *world {
	secret := func(name string, data map[string][]byte) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "uid", ResourceVersion: "7"}, Data: data}
	}
	return &world{
		secrets: map[string]*corev1.Secret{
			"shop/seed":    secret("seed", seedWith(nil)),
			"lagoon/admin": secret("admin", map[string][]byte{"password": []byte("admin-word")}),
		},
		cached: []api.Connection{connection},
		asked:  []api.Connection{connection},
	}
}

func (w *world) seeder() *Seeder {
	s := NewSeeder()
	s.Cluster, s.Events, s.Log = w, w, slog.New(slog.DiscardHandler)
	s.Providers = catalog{w.cached}
	s.LiveProviders = func(context.Context) (Providers, error) { w.liveAsks++; return catalog{w.asked}, nil }
	s.Engines = map[string]database.Engine{"mariadb": engine{w}}
	return s
}
