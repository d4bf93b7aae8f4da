package mysql

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
	"github.com/seedmend/seedmend/tests/lab"
)

var (
	theLab  *lab.Lab
	servers sync.Map // name -> func() (*lab.MariaDB, error)
	counter atomic.Int64
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	var err error
	if theLab, err = lab.New(context.Background(), lab.Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := theLab.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	return m.Run()
}

// kinds of servers; each is started when a test first asks for it.
var kinds = map[string]lab.MariaDBOptions{
	"plain":   {},
	"tls":     {TLS: true},
	"modes":   {Args: []string{"--sql-mode=ANSI_QUOTES,NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES"}},
	"folding": {Args: []string{"--lower-case-table-names=1"}},
	"latin1":  {Args: []string{"--skip-character-set-client-handshake", "--character-set-server=latin1"}},
	"gbk":     {Args: []string{"--skip-character-set-client-handshake", "--character-set-server=gbk"}},
	"fresh":   {},
	"trouble": {},
	"decoy":   {},
}

func serverOf(t testing.TB, kind string) *lab.MariaDB {
	t.Helper()
	start, _ := servers.LoadOrStore(kind, sync.OnceValues(func() (*lab.MariaDB, error) {
		opts := kinds[kind]
		// What is lost with the machine only; makes the tests twice as fast.
		opts.Args = append([]string{"--sync-frm=0", "--innodb-flush-log-at-trx-commit=2", "--innodb-doublewrite=0"}, opts.Args...)
		opts.Name = kind
		return theLab.StartMariaDB(context.Background(), opts)
	}))
	m, err := start.(func() (*lab.MariaDB, error))()
	require.NoError(t, err)
	return m
}

// rig is a server, an engine and fresh names.
type rig struct {
	testing.TB
	*lab.MariaDB
	engine *Engine
	admin  database.Admin
	seed   database.Seed
	owner  api.Owner
}

func newRig(t testing.TB, kind string) *rig {
	t.Helper()
	m := serverOf(t, kind)
	n := counter.Add(1)
	r := &rig{TB: t, MariaDB: m}
	r.engine = newEngine(t, Options{})
	r.admin = adminOf(m)
	r.seed = database.Seed{
		Credentials: database.Credentials{Username: fmt.Sprintf("app%d", n), Password: secret(fmt.Sprintf("S3cret-%d-pw", n))},
		Database:    fmt.Sprintf("shop%d", n),
	}
	r.owner = api.Owner{UID: fmt.Sprintf("uid-%d", n), Namespace: "team", Name: fmt.Sprintf("request-%d", n), Cluster: "cluster-1"}
	return r
}

func adminOf(m *lab.MariaDB) database.Admin {
	return database.Admin{
		Address: database.Address{Host: m.Host, Port: m.Port}, Username: m.RootUser,
		Password: func(context.Context) (string, error) { return secret(m.RootPassword), nil },
	}
}

func (r *rig) ctx() context.Context { return r.Context() }

func (r *rig) exec(statements ...string) {
	r.Helper()
	for _, s := range statements {
		_, err := r.DB().ExecContext(context.WithoutCancel(r.ctx()), s)
		require.NoError(r, err, s)
	}
}

// list gives the first column of all rows.
func (r *rig) list(query string, args ...any) []string {
	r.Helper()
	rows, err := r.DB().QueryContext(context.WithoutCancel(r.ctx()), query, args...)
	require.NoError(r, err)
	defer rows.Close()
	var all []string
	for rows.Next() {
		var s sql.NullString
		require.NoError(r, rows.Scan(&s))
		all = append(all, s.String)
	}
	require.NoError(r, rows.Err())
	return all
}

// accounts are all rows with their hashes, databases, grants, and claims: what a
// refused seed must leave as it was.
func (r *rig) state() []string {
	r.Helper()
	all := r.list("SELECT CONCAT('account ', User, '@', Host, ' ', Priv) FROM mysql.global_priv ORDER BY 1")
	all = append(all, r.list("SELECT CONCAT('database ', SCHEMA_NAME) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME <> 'seedmend' ORDER BY 1")...)
	all = append(all, r.list("SELECT CONCAT('grant ', User, '@', Host, ' ', Db) FROM mysql.db ORDER BY 1")...)
	all = append(all, r.list("SELECT CONCAT('table ', TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_SCHEMA NOT IN ('mysql','sys','performance_schema','information_schema','seedmend') ORDER BY 1")...)
	return append(all, r.claims()...)
}

func (r *rig) claims() []string {
	r.Helper()
	if len(r.list("SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'seedmend' AND TABLE_NAME = 'claims'")) == 0 {
		return nil
	}
	return r.list("SELECT CONCAT_WS(' ', 'claim', database_name, owner_uid, namespace, name, cluster_uid, username, host, origin, phase) FROM seedmend.claims ORDER BY 1")
}

// claim is the one on the seed's database, as "user@host origin phase".
func (r *rig) claim() string {
	r.Helper()
	return strings.Join(r.list("SELECT CONCAT(username, '@', host, ' ', origin, ' ', phase) FROM seedmend.claims WHERE database_name = ?", r.seed.Database), "; ")
}

func (r *rig) create() error { return r.createWith(r.ctx(), r.engine, r.admin) }
func (r *rig) adopt() error  { return r.check(r.engine.Adopt(r.ctx(), r.admin, r.owner, r.seed, "%")) }
func (r *rig) login() error  { return r.check(r.engine.Login(r.ctx(), r.admin.Address, r.seed)) }
func (r *rig) names() error  { return r.check(r.engine.CheckNames(r.seed, r.admin.Username)) }
func (r *rig) probe() (api.Facts, error) {
	f, err := r.engine.Probe(r.ctx(), r.admin, r.seed)
	hasNoSecret(r, fmt.Sprintf("%+v", f))
	return f, r.check(err)
}

func (r *rig) createWith(ctx context.Context, e *Engine, admin database.Admin) error {
	return r.check(e.Create(ctx, admin, r.owner, r.seed))
}

func (r *rig) facts() api.Facts {
	r.Helper()
	f, err := r.probe()
	require.NoError(r, err)
	return f
}

// setUp makes an account and a database by hand.
func (r *rig) setUp() {
	r.Helper()
	user := account(r.seed.Username, "%")
	r.exec("CREATE DATABASE "+ident(r.seed.Database), "CREATE USER "+user+" IDENTIFIED BY "+r.lit(r.seed.Password),
		"GRANT ALL ON "+ident(pattern(r.seed.Database, false))+".* TO "+user)
}

func (r *rig) lit(s string) string { return literal(s, r.MariaDB.Name == "modes") }

// healthy asserts the end of every successful creation: one of each, nothing else.
func (r *rig) healthy() {
	r.Helper()
	require.NoError(r, r.login())
	require.Equal(r, r.seed.Username+"@% created ready", r.claim())
	require.Len(r, r.list("SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?", r.seed.Database), 1)
	require.Equal(r, []string{"%"}, r.list("SELECT Host FROM mysql.user WHERE User = ?", r.seed.Username))
	require.Equal(r, []string{pattern(r.seed.Database, false)}, r.list("SELECT Db FROM mysql.db WHERE User = ?", r.seed.Username))
	require.Empty(r, r.list("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ?", r.seed.Database))
}

// want asserts the reason of a failure.
func want(t testing.TB, reason api.Reason, err error) *api.Failure {
	t.Helper()
	var f *api.Failure
	require.ErrorAs(t, err, &f)
	require.Equal(t, reason, f.Reason, "%v", err)
	return f
}

// check looks for secrets in an error, and that it is of one of the two kinds.
func (r *rig) check(err error) error {
	r.Helper()
	if err == nil {
		return nil
	}
	for _, format := range []string{"%v", "%+v", "%#v", "%q"} {
		hasNoSecret(r, fmt.Sprintf(format, err))
	}
	var f *api.Failure
	if errors.As(err, &f) {
		hasNoSecret(r, f.Message+f.Operator)
		for _, word := range []string{"IDENTIFIED", "GRANT ALL", "INSERT INTO", "SELECT '", "SELECT GET"} {
			require.NotContains(r, f.Error(), word)
		}
	} else if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		require.Fail(r, "neither a failure nor a context error", "%T %v", err, err)
	}
	return err
}

// secrets are the passwords of all tests.
var secrets sync.Map

func secret(s string) string {
	if len(s) > 3 {
		secrets.Store(s, true)
	}
	return s
}

func hasNoSecret(t testing.TB, text string) {
	t.Helper()
	secrets.Range(func(k, _ any) bool {
		s := k.(string)
		for _, form := range []string{s, url.QueryEscape(s), fmt.Sprintf("%q", s), strings.ReplaceAll(s, "'", "''")} {
			require.NotContains(t, text, form)
		}
		return true
	})
}

// newEngine makes one whose log is searched for secrets when the test ends.
func newEngine(t testing.TB, opts Options) *Engine {
	var out lockedBuffer
	opts.Log = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	e := New(opts)
	t.Cleanup(func() {
		require.NoError(t, e.Close())
		hasNoSecret(t, out.String())
	})
	return e
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// eventually polls a condition.
func eventually(t testing.TB, why string, is func() bool) {
	t.Helper()
	require.Eventually(t, is, 10*time.Second, 5*time.Millisecond, why)
}
