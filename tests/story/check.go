package story

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"go.temporal.io/sdk/temporal"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s"
	"github.com/seedmend/seedmend/tests/lab"
)

// link leads to the request's workflow in Temporal's UI.
func (s *story) link(request string) string {
	return s.workflowLink(api.DatabaseWorkflowID(namespace, request))
}

func (s *story) workflowLink(id string) string {
	return s.stage.Temporal.UIURL + "/namespaces/default/workflows/" + url.PathEscape(id)
}

// checkWorkflow waits for the workflow's end, which comes after the status.
func (s *story) checkWorkflow(ctx context.Context, sc scene, r *result) error {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	var done api.ReconcileResult
	err := s.stage.Workflows.GetWorkflow(ctx, api.DatabaseWorkflowID(namespace, sc.request), "").Get(ctx, &done)
	if ctx.Err() != nil {
		return errors.New("the workflow does not end")
	}
	if sc.succeeds() {
		r.expect(err == nil, "the workflow failed: %v", err)
		return nil
	}
	var failure *temporal.ApplicationError
	r.expect(errors.As(err, &failure) && failure.Type() == string(sc.want) && failure.NonRetryable(),
		"the workflow did not fail with a non-retryable %s but: %v", sc.want, err)
	return nil
}

// checkOutputs looks at the Secret, the Service and the seed, and logs in.
func (s *story) checkOutputs(ctx context.Context, sc scene, r *result) error {
	seed, err := s.secret(ctx, sc.request+"-seed")
	if err != nil {
		return err
	}
	secret, err := s.secret(ctx, sc.request)
	if err != nil {
		return err
	}
	if !sc.succeeds() {
		r.expect(secret == nil, "there is a Secret, though the request failed")
		r.expect(seed != nil && seed.ResourceVersion == r.seed, "the seed Secret was touched, though the request failed")
		return nil
	}
	r.expect(seed == nil, "the seed Secret is still there")
	if secret == nil {
		r.expect(false, "there is no Secret")
		return nil
	}
	r.keys = slices.Sorted(maps.Keys(secret.Data))
	service, err := s.stage.Client.Kube.CoreV1().Services(namespace).Get(ctx, sc.request, metav1.GetOptions{})
	if err != nil {
		return err
	}
	key := func(name string) string { return string(secret.Data[k8s.KeyPrefix(sc.request)+"_"+name]) }
	for _, name := range []string{"database", "username", "password", "port"} {
		r.expect(key(strings.ToUpper(name)) == sc.seed[name], "the Secret's %s is not the seed's", name)
	}
	r.expect(key("HOST") == service.Name, "the Secret's host is not the Service")
	db, err := open(net.JoinHostPort(service.Spec.ExternalName, key("PORT")), key("USERNAME"), key("PASSWORD"), key("DATABASE"))
	if err != nil {
		return err
	}
	defer db.Close()
	if err := prove(ctx, db, sc); err != nil {
		r.expect(false, "the Secret's bytes do not work: %v", err)
		return nil
	}
	r.shown("a login with the Secret's bytes, through the Service's name and the Secret's port, works")
	return nil
}

// secret is nil where there is none.
func (s *story) secret(ctx context.Context, name string) (*corev1.Secret, error) {
	secret, err := s.stage.Client.Kube.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // absence is an answer
	}
	return secret, err
}

func open(addr, user, password, database string) (*sql.DB, error) {
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.User, cfg.Passwd, cfg.DBName = "tcp", addr, user, password, database
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// prove uses the database as its tenant would; of an adopted one it only reads.
func prove(ctx context.Context, db *sql.DB, sc scene) error {
	statements := []string{"CREATE TABLE written (id INT PRIMARY KEY)", "INSERT INTO written VALUES (1)", "DROP TABLE written"}
	if sc.rows != "" {
		statements = []string{"SELECT * FROM " + sc.rows}
	}
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// world is both servers, and the rows that a scene cares for.
type world struct {
	servers map[*lab.MariaDB]state
	rows    []string
}

func (s *story) world(ctx context.Context, sc scene) (w world, err error) {
	w.servers = map[*lab.MariaDB]state{}
	for _, m := range []*lab.MariaDB{s.one, s.two} {
		if w.servers[m], err = look(ctx, m); err != nil {
			return w, err
		}
	}
	if sc.rows != "" {
		w.rows, err = list(ctx, sc.server, "SELECT CONCAT(id, ' ', item) FROM "+sc.rows+" ORDER BY id")
	}
	return w, err
}

// compare holds that the servers changed as the outcome says, and no further.
func (w world) compare(after world, sc scene, r *result) {
	for m, state := range w.servers {
		more, less := state.change(after.servers[m])
		r.expect(less.empty(), "on %s this is gone or changed: %s", m.Name, less.words())
		if m != sc.server || !sc.succeeds() {
			r.expect(more.empty(), "on %s this is new: %s", m.Name, more.words())
			continue
		}
		for _, k := range kinds {
			prefix, wanted := sc.gains()[k.name]
			right := !wanted && len(more[k.name]) == 0 || wanted && len(more[k.name]) == 1 && more.has(k.name, prefix)
			r.expect(right, "on %s these %s are new, where %q was expected: %q", m.Name, k.name, prefix, more[k.name])
		}
		r.shown("new on %s: %s", m.Name, more.words())
	}
	if len(r.wrong) == 0 && !sc.succeeds() {
		r.shown("no account, database, grant or claim on either server is new, gone or changed; the seed is untouched")
	}
	if len(r.wrong) == 0 && sc.succeeds() {
		r.shown("all else on both servers is as it was")
	}
	if sc.rows != "" {
		r.expect(len(w.rows) > 0 && slices.Equal(w.rows, after.rows), "the rows of %s were %q and are %q", sc.rows, w.rows, after.rows)
		r.shown("the rows of %s are as they were: %s", sc.rows, strings.Join(after.rows, ", "))
	}
}

// gains are what the server has afterwards and had not before: how the one new
// line of each kind begins.
func (sc scene) gains() map[string]string {
	account := sc.seed["username"] + "@%"
	lines := map[string]string{
		"claims": fmt.Sprintf("%s %s/%s %s %s ready", sc.seed["database"], namespace, sc.request, account, strings.ToLower(string(sc.want))),
	}
	if sc.want == api.ReasonCreated {
		lines["databases"], lines["accounts"] = sc.seed["database"], account+" "
		lines["grants"] = account + " on " + strings.ReplaceAll(sc.seed["database"], "_", `\_`) + " "
	}
	return lines
}
