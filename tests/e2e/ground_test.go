package e2e

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/k8s/v1alpha1"
	"github.com/seedmend/seedmend/tests/lab"
	"github.com/seedmend/seedmend/tests/stage"
	"github.com/seedmend/seedmend/tests/stage/leak"
)

// patience is for one wait on a machine with much else to do.
const patience = time.Minute

// ground is a stage with seedmend on it, an audit log of what seedmend asks of
// the API, and an admin user of few privileges on each server.
type ground struct {
	*stage.Stage
	name    string
	process *stage.Process
	audit   string
}

// platform is the providers' admin user.
const platform = "platform"

// adminPrivileges are all that an admin user needs, as docs/install.md has it:
// no RELOAD, no SUPER, nothing global but what is to be handed on.
func adminPrivileges(user string) []string {
	return []string{
		"GRANT CREATE USER ON *.* TO " + user,
		"GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, REFERENCES, INDEX, ALTER, CREATE TEMPORARY TABLES, LOCK TABLES, EXECUTE," +
			" CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, EVENT, TRIGGER, DELETE HISTORY ON *.* TO " + user + " WITH GRANT OPTION",
	}
}

func newGround(ctx context.Context, name string, servers map[string]lab.MariaDBOptions) (*ground, error) {
	g := &ground{name: name, audit: filepath.Join(scratch, name+"-audit.log")}
	policy := filepath.Join(scratch, "audit-policy.yaml")
	err := os.WriteFile(policy, []byte("apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules:\n"+
		"- {level: Metadata, users: [seedmend]}\n- {level: None}\n"), 0o600)
	if err != nil {
		return nil, err
	}
	g.Stage, err = stage.Up(ctx, stage.Options{
		Binary:   program,
		Lab:      lab.Options{Log: slog.New(slog.NewTextHandler(os.Stderr, nil))},
		Servers:  servers,
		Temporal: lab.TemporalOptions{DBFile: true},
		Kube:     lab.KubeOptions{Args: []string{"--audit-policy-file=" + policy, "--audit-log-path=" + g.audit}},
	})
	if err != nil {
		return nil, err
	}
	for _, user := range []string{"seedmend", "lab-admin"} {
		if config, err := g.Kube.ConfigFor(user); err == nil {
			vault.Add(config.BearerToken)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, m := range g.Servers {
		vault.Add(m.RootPassword)
		group.Go(func() error {
			if err := m.ResetGeneralLog(ctx); err != nil {
				return err
			}
			return g.makeAdmin(ctx, m, platform, adminPrivileges(ident(platform)+"@'%'")...)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, errors.Join(err, g.Stage.Close())
	}
	return g, nil
}

// makeAdmin makes an admin user, and the Secret "<server>-<user>" for it.
func (g *ground) makeAdmin(ctx context.Context, m *lab.MariaDB, user string, grants ...string) error {
	return g.makeAdminFor(ctx, m, user, "%", grants...)
}

func (g *ground) makeAdminFor(ctx context.Context, m *lab.MariaDB, user, host string, grants ...string) error {
	password := vault.Password()
	create := "CREATE USER " + ident(user) + "@" + ident(host) + " IDENTIFIED BY " + literal(password)
	if err := exec(ctx, m, append([]string{create}, grants...)...); err != nil {
		return err
	}
	return g.Secret(ctx, stage.ProviderNamespace, m.Name+"-"+user, map[string]string{"password": password})
}

// via is a connection to a server as one of its admin users.
func via(m *lab.MariaDB, user string) v1alpha1.Connection {
	return stage.Connection(m.Name, "localhost", m.Port, user, m.Name+"-"+user)
}

// offer makes a provider whose name is its selector.
func (g *ground) offer(ctx context.Context, selector string, connections ...v1alpha1.Connection) error {
	p := &v1alpha1.RelationalDatabaseProvider{ObjectMeta: metav1.ObjectMeta{Name: selector}}
	p.Spec = v1alpha1.RelationalDatabaseProviderSpec{Type: "mysql", Selector: selector, Connections: connections}
	_, err := g.Client.RelationalDatabaseProviders().Create(ctx, p, metav1.CreateOptions{})
	return err
}

// furnish makes the providers that most tests use.
func furnish(ctx context.Context, g *ground) error {
	return errors.Join(
		g.offer(ctx, "development", via(g.Servers["one"], platform), via(g.Servers["two"], platform)),
		g.offer(ctx, "encrypted", via(g.Servers["tls"], platform)),
		g.offer(ctx, "odd", via(g.Servers["odd"], platform)),
	)
}

// run starts "seedmend run" and waits until it is ready.
func (g *ground) run(ctx context.Context, args ...string) (err error) {
	args = append([]string{"--leader-election-namespace=" + stage.ProviderNamespace}, args...)
	if g.process, err = g.Seedmend("run", args...); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return g.process.Ready(ctx)
}

// restart ends seedmend and starts it with other arguments; also in a cleanup,
// when the test's context has ended.
func (g *ground) restart(t *testing.T, args ...string) {
	t.Helper()
	assert.NoError(t, g.process.Stop())
	require.NoError(t, g.run(context.WithoutCancel(t.Context()), args...))
}

// command runs a person's command, and keeps what it prints with the logs.
func (g *ground) command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	code, stdout, stderr = g.Command(within(t, patience), args...)
	file, err := os.CreateTemp(filepath.Join(g.Lab.Dir(), "logs"), "command-"+args[0]+"-*.log")
	require.NoError(t, err)
	defer file.Close()
	_, err = fmt.Fprintf(file, "%s\n%s\n%s\n", strings.Join(args, " "), stdout, stderr)
	require.NoError(t, err)
	return code, stdout, stderr
}

// close ends the ground; what it has stored and printed is searched first.
func (g *ground) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	var errs []error
	if g.process != nil {
		errs = append(errs, g.process.Stop())
	}
	errs = append(errs, g.noLeaks(ctx), g.knownPasswords(ctx), g.restrained(), g.Stage.Close())
	return errors.Join(errs...)
}

// noLeaks searches everything for every password.
func (g *ground) noLeaks(ctx context.Context) error {
	began := time.Now()
	hits, seen, err := leak.Search(ctx, g.Stage, vault.Needles(), "")
	if err != nil {
		return err
	}
	var errs []error
	for _, h := range hits {
		errs = append(errs, fmt.Errorf("a password was found in %s", h))
	}
	fmt.Fprintf(os.Stderr, "%s: searched for passwords in %v: %d found, after %s\n", g.name, seen, len(hits), time.Since(began).Round(time.Millisecond))
	return errors.Join(errs...)
}

// knownPasswords makes sure that the search knew every password there is.
func (g *ground) knownPasswords(ctx context.Context) error {
	list, err := g.Client.Kube.CoreV1().Secrets("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	var errs []error
	for _, s := range list.Items {
		for key, value := range s.Data {
			if strings.HasSuffix(strings.ToLower(key), "password") && !vault.Knows(string(value)) && len(value) > 0 {
				errs = append(errs, fmt.Errorf("Secret %s/%s, key %s: this password is not from the vault", s.Namespace, s.Name, key))
			}
		}
	}
	return errors.Join(errs...)
}

// restrained makes sure that seedmend asked the API for nothing but what it needs.
func (g *ground) restrained() error {
	calls, err := g.calls()
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range calls {
		switch {
		case c.Object.Resource == "secrets" && slices.Contains([]string{"list", "watch", "deletecollection", "update"}, c.Verb),
			c.Object.Resource == "databaserequests" && c.Object.Subresource == "" && !slices.Contains([]string{"get", "list", "watch"}, c.Verb),
			c.Code == 403:
			errs = append(errs, fmt.Errorf("seedmend asked the API to %s", c))
		}
	}
	return errors.Join(errs...)
}

// within is a context of the test's, for one wait.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// eventually waits until check has no error.
func eventually(t *testing.T, check func(ctx context.Context) error) {
	t.Helper()
	ctx := within(t, patience)
	require.NoError(t, stage.Eventually(ctx, func() error { return check(ctx) }))
}
