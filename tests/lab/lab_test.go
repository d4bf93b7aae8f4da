package lab_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/seedmend/seedmend/tests/lab"
)

func newLab(t *testing.T) *lab.Lab {
	t.Helper()
	l, err := lab.New(t.Context(), lab.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// servers is one of each kind.
type servers struct {
	mariadb  *lab.MariaDB
	kube     *lab.Kube
	temporal *lab.Temporal
	postgres *lab.Postgres
}

func startAll(ctx context.Context, l *lab.Lab) (s servers, err error) {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		s.mariadb, err = l.StartMariaDB(ctx, lab.MariaDBOptions{ServerID: 1})
		return err
	})
	g.Go(func() (err error) {
		s.kube, err = l.StartKube(ctx, lab.KubeOptions{Users: []lab.User{{Name: "system:serviceaccount:a:b", Groups: []string{"tenants"}}}})
		return err
	})
	g.Go(func() (err error) {
		s.temporal, err = l.StartTemporal(ctx, lab.TemporalOptions{
			UI: true, DBFile: true, SearchAttributes: map[string]string{"SeedmendPhase": "Keyword"}})
		return err
	})
	g.Go(func() (err error) {
		s.postgres, err = l.StartPostgres(ctx, lab.PostgresOptions{})
		return err
	})
	return s, g.Wait()
}

func (s servers) all() map[string]*lab.Server {
	return map[string]*lab.Server{
		"mariadb": s.mariadb.Server, "kube-apiserver": s.kube.Server, "etcd": s.kube.Etcd,
		"temporal": s.temporal.Server, "postgres": s.postgres.Server,
	}
}

func TestTwoLabsWithEverythingAtOnceAndAgain(t *testing.T) {
	l, neighbour := newLab(t), newLab(t)
	ctx := within(t, 2*time.Minute)
	began := time.Now()
	var s servers
	both, startCtx := errgroup.WithContext(ctx)
	both.Go(func() (err error) { s, err = startAll(startCtx, l); return err })
	both.Go(func() error { _, err := startAll(startCtx, neighbour); return err })
	require.NoError(t, both.Wait())
	t.Logf("two labs up after %s", time.Since(began))
	require.NoError(t, neighbour.Close())

	useKube(ctx, t, s.kube, "before")
	useTemporal(ctx, t, s.temporal)
	useSQL(ctx, t, s)
	for name := range s.all() {
		require.FileExists(t, filepath.Join(l.Dir(), "logs", name+".log"))
	}

	var g errgroup.Group
	for name, server := range s.all() {
		if name == "etcd" {
			continue // under a running API server
		}
		g.Go(func() error {
			began := time.Now()
			if err := server.Stop(ctx); err != nil {
				return err
			}
			stopped := time.Since(began)
			err := server.Start(ctx)
			t.Logf("%s: stopped in %s, started in %s", name, stopped, time.Since(began)-stopped)
			return err
		})
	}
	require.NoError(t, g.Wait())
	useKube(ctx, t, s.kube, "after")
	useTemporal(ctx, t, s.temporal)
	useSQL(ctx, t, s)

	began = time.Now()
	require.NoError(t, l.Close())
	t.Logf("closed in %s", time.Since(began))
	require.NoDirExists(t, l.Dir())
	require.NoError(t, l.Close(), "a second time")
	_, err := l.StartMariaDB(ctx, lab.MariaDBOptions{Name: "late"})
	require.ErrorContains(t, err, "closed")
}

func useKube(ctx context.Context, t *testing.T, k *lab.Kube, namespace string) {
	t.Helper()
	clients, err := kubernetes.NewForConfig(k.Config)
	require.NoError(t, err)
	_, err = clients.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = clients.CoreV1().Namespaces().Get(ctx, "before", metav1.GetOptions{})
	require.NoError(t, err)

	fromFile, err := clientcmd.BuildConfigFromFlags("", k.KubeconfigFor("system:serviceaccount:a:b"))
	require.NoError(t, err)
	tenant, err := kubernetes.NewForConfig(fromFile)
	require.NoError(t, err)
	_, err = tenant.CoreV1().Secrets("default").List(ctx, metav1.ListOptions{})
	require.ErrorContains(t, err, `User "system:serviceaccount:a:b" cannot list resource "secrets"`)
}

func useTemporal(ctx context.Context, t *testing.T, s *lab.Temporal) {
	t.Helper()
	c, err := client.DialContext(ctx, client.Options{HostPort: s.Address})
	require.NoError(t, err)
	defer c.Close()
	_, err = c.CheckHealth(ctx, &client.CheckHealthRequest{})
	require.NoError(t, err)
	attributes, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: "default"})
	require.NoError(t, err)
	require.Contains(t, attributes.GetCustomAttributes(), "SeedmendPhase")
	page, err := http.Get(s.UIURL)
	require.NoError(t, err)
	defer page.Body.Close()
	require.Equal(t, http.StatusOK, page.StatusCode)
}

func useSQL(ctx context.Context, t *testing.T, s servers) {
	t.Helper()
	var one int
	require.NoError(t, s.mariadb.DB().QueryRowContext(ctx, "SELECT 1").Scan(&one))
	require.NoError(t, s.postgres.DB().QueryRowContext(ctx, "SELECT 1").Scan(&one))
}

func TestCloseEndsAStartUnderWay(t *testing.T) {
	l := newLab(t)
	failed := make(chan error)
	go func() {
		_, err := l.StartMariaDB(t.Context(), lab.MariaDBOptions{})
		failed <- err
	}()
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(l.Dir(), "logs", "mariadb-install-db.log"))
		return err == nil
	}, 10*time.Second, time.Millisecond)
	require.NoError(t, l.Close())
	require.Error(t, <-failed)
	require.NoDirExists(t, l.Dir())
}

func TestATakenPortIsReplaced(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	m := startMariaDB(t, sharedLab(t), lab.MariaDBOptions{Port: port})
	require.NotEqual(t, port, m.Port)

	other := startMariaDB(t, newLab(t), lab.MariaDBOptions{Port: m.Port})
	require.NotEqual(t, m.Port, other.Port, "of another lab")
}

func TestAFailureShowsTheLog(t *testing.T) {
	_, err := sharedLab(t).StartMariaDB(within(t, time.Minute), lab.MariaDBOptions{Name: "odd", Args: []string{"--no-such-option"}})
	require.ErrorContains(t, err, "odd did not come up: it exited")
	require.ErrorContains(t, err, "unknown option '--no-such-option'")
}

func TestADirectoryInUseIsRefused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "precious"), nil, 0o600))
	_, err := lab.New(t.Context(), lab.Options{Dir: dir})
	require.ErrorContains(t, err, "is not empty")
}

func TestKeep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	l, err := lab.New(t.Context(), lab.Options{Dir: dir, Keep: true})
	require.NoError(t, err)
	defer l.Close()
	startMariaDB(t, l, lab.MariaDBOptions{})
	require.NoError(t, l.Close())
	require.FileExists(t, filepath.Join(dir, "logs", "mariadb.log"))
	require.DirExists(t, filepath.Join(dir, "mariadb", "data"))
}

// Too long for a unix socket, and closed to the user of PostgreSQL.
func TestAnAwkwardDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a-directory-whose-name-is-too-long-for-a-unix-socket-"+strconv.Itoa(os.Getpid()))
	l, err := lab.New(t.Context(), lab.Options{Dir: dir})
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	startMariaDB(t, l, lab.MariaDBOptions{})
	_, err = l.StartPostgres(within(t, time.Minute), lab.PostgresOptions{})
	require.NoError(t, err)
}
