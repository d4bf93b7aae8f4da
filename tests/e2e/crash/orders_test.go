package crash

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/tests/stage"
)

// order is one request whose seed describes a database that does not exist.
type order struct{ namespace, name, database, user, password string }

// place makes n orders in a namespace of that name.
func place(t *testing.T, namespace string, n int) []order {
	t.Helper()
	ctx := within(t, time.Minute)
	require.NoError(t, on.Namespace(ctx, namespace))
	orders := make([]order, n)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for i := range orders {
		o := order{
			namespace: namespace, name: fmt.Sprintf("db-%02d", i),
			database: fmt.Sprintf("%s_%02d", namespace, i), user: fmt.Sprintf("%s-u%02d", namespace, i), password: fmt.Sprintf("pw'%s\\%02d", namespace, i),
		}
		orders[i] = o
		group.Go(func() error {
			if err := on.Secret(ctx, o.namespace, o.name+"-seed", stage.SeedFor(server, o.database, o.user, o.password)); err != nil {
				return err
			}
			_, err := on.Request(ctx, o.namespace, o.name)
			return err
		})
	}
	require.NoError(t, group.Wait())
	return orders
}

// delivered waits until all orders are Ready, and checks the server to the last
// row: one database, one account, one claim an order, and nothing else.
func delivered(t *testing.T, orders []order, patience time.Duration) {
	t.Helper()
	ctx := within(t, patience)
	for _, o := range orders {
		r, err := on.Settled(ctx, o.namespace, o.name)
		require.NoError(t, err)
		require.True(t, meta.IsStatusConditionTrue(r.Status.Conditions, "Ready"), "%s: %+v", o.name, r.Status.Conditions)
		secret, err := on.Client.Kube.CoreV1().Secrets(o.namespace).Get(ctx, o.name, metav1.GetOptions{})
		require.NoError(t, err)
		var user, password, database string
		for key, value := range secret.Data {
			switch {
			case len(key) > 9 && key[len(key)-9:] == "_USERNAME":
				user = string(value)
			case len(key) > 9 && key[len(key)-9:] == "_PASSWORD":
				password = string(value)
			case len(key) > 9 && key[len(key)-9:] == "_DATABASE":
				database = string(value)
			}
		}
		assert.Equal(t, o, order{o.namespace, o.name, database, user, password})
		assert.NoError(t, logsIn(ctx, user, password, database))
		eventually(t, 30*time.Second, "the seed goes last, after Ready", func() bool {
			_, err := on.Client.Kube.CoreV1().Secrets(o.namespace).Get(ctx, o.name+"-seed", metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
	}
	prefix := orders[0].namespace
	like := prefix + "\\_%"
	assert.Equal(t, len(orders), count(t, "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name LIKE ?", like))
	assert.Equal(t, len(orders), count(t, "SELECT COUNT(*) FROM mysql.global_priv WHERE user LIKE ?", prefix+"-%"))
	assert.Equal(t, len(orders), count(t, "SELECT COUNT(*) FROM mysql.db WHERE user LIKE ?", prefix+"-%"))
	assert.Equal(t, len(orders), count(t, "SELECT COUNT(*) FROM seedmend.claims WHERE database_name LIKE ? AND phase = 'ready' AND origin = 'created'", like))
	assert.Equal(t, len(orders), count(t, "SELECT COUNT(*) FROM seedmend.claims WHERE namespace = ?", prefix))
	assert.Zero(t, count(t, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema LIKE ?", like), "no probe table is left")
}

func logsIn(ctx context.Context, user, password, database string) error {
	db, err := server.Open(user, password, database)
	if err != nil {
		return err
	}
	defer db.Close()
	return db.PingContext(ctx)
}

func count(t *testing.T, query string, args ...any) (n int) {
	t.Helper()
	require.NoError(t, server.DB().QueryRowContext(t.Context(), query, args...).Scan(&n))
	return n
}

// hold keeps a statement's effect (a table lock, say) until the returned func.
func hold(t *testing.T, statement string) (release func()) {
	t.Helper()
	conn, err := server.DB().Conn(t.Context())
	require.NoError(t, err)
	_, err = conn.ExecContext(t.Context(), statement)
	require.NoError(t, err)
	released := false
	release = func() {
		if !released {
			released = true
			_, _ = conn.ExecContext(context.Background(), "UNLOCK TABLES")
			_ = conn.Close()
		}
	}
	t.Cleanup(release)
	return release
}

func eventually(t *testing.T, d time.Duration, what string, check func() bool) {
	t.Helper()
	err := stage.Eventually(within(t, d), func() error {
		if !check() {
			return fmt.Errorf("not yet: %s", what)
		}
		return nil
	})
	require.NoError(t, err)
}
