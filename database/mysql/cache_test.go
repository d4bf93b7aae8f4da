package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

func adminAt(host string) database.Admin {
	return database.Admin{Address: database.Address{Host: host, Port: 3306}, Username: "root"}
}

// fakePools opens pools that never dial.
func fakePools(limit int) (*pools, *atomic.Int64) {
	var opened atomic.Int64
	return newPools(limit, func(context.Context, database.Admin) (*pool, error) {
		opened.Add(1)
		c, err := mysql.NewConnector(mysql.NewConfig())
		return &pool{db: sql.OpenDB(c)}, err
	}), &opened
}

func closed(p *pool) bool {
	return p.db.PingContext(context.Background()).Error() == "sql: database is closed"
}

func TestPoolsAreOpenedOnceHoweverManyAsk(t *testing.T) {
	p, opened := fakePools(4)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			e, _, err := p.get(context.Background(), adminAt("a"))
			if err == nil {
				p.release(e)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, opened.Load())
	require.NoError(t, p.close())
}

func TestPoolsAreBoundedAndTheLeastRecentlyUsedGoes(t *testing.T) {
	p, opened := fakePools(2)
	use := func(host string) *pool {
		e, _, err := p.get(t.Context(), adminAt(host))
		require.NoError(t, err)
		defer p.release(e)
		return e.pool
	}
	a, b := use("a"), use("b")
	use("a")
	use("c") // b goes
	require.True(t, closed(b))
	require.False(t, closed(a))
	require.Same(t, a, use("a"))
	require.EqualValues(t, 3, opened.Load())
	require.Equal(t, 2, p.order.Len())
	require.Len(t, p.byKey, 2)
}

func TestAPoolInUseIsClosedWithItsLastUse(t *testing.T) {
	p, _ := fakePools(4)
	first, fresh, err := p.get(t.Context(), adminAt("a"))
	require.NoError(t, err)
	require.True(t, fresh)
	second, fresh, err := p.get(t.Context(), adminAt("a"))
	require.NoError(t, err)
	require.False(t, fresh)
	db := first.pool
	p.evict(first)
	p.evict(first)
	p.release(second)
	require.False(t, closed(db))
	require.NoError(t, p.close())
	p.release(first)
	require.True(t, closed(db))
	_, _, err = p.get(t.Context(), adminAt("a"))
	want(t, api.ServerUnreachable, err)
}

func TestAFailureToOpenIsSharedButNotKept(t *testing.T) {
	fail := errors.New("refused")
	started, finish := make(chan struct{}), make(chan struct{})
	var opened atomic.Int64
	p := newPools(4, func(context.Context, database.Admin) (*pool, error) {
		if opened.Add(1) == 1 {
			close(started)
		}
		<-finish
		return nil, fail
	})
	errs := make(chan error, 5)
	get := func() { _, _, err := p.get(context.Background(), adminAt("a")); errs <- err }
	go get()
	<-started
	for range 4 {
		go get()
	}
	require.Eventually(t, func() bool { return p.refs("a") == 5 }, 5*time.Second, time.Millisecond)
	close(finish)
	for range 5 {
		require.ErrorIs(t, <-errs, fail)
	}
	require.EqualValues(t, 1, opened.Load(), "no storm of logins")
	require.Empty(t, p.byKey)
}

func (p *pools) refs(host string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if el, ok := p.byKey[keyOf(adminAt(host))]; ok {
		return el.Value.(*entry).refs
	}
	return 0
}

func TestWhoWaitsForACallerThatGaveUpOpensItself(t *testing.T) {
	var opened atomic.Int64
	p := newPools(4, func(ctx context.Context, _ database.Admin) (*pool, error) {
		if opened.Add(1) == 1 {
			<-ctx.Done()
			return nil, fmt.Errorf("log in: %w", ctx.Err())
		}
		c, err := mysql.NewConnector(mysql.NewConfig())
		return &pool{db: sql.OpenDB(c)}, err
	})
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error, 2)
	go func() { _, _, err := p.get(ctx, adminAt("a")); errs <- err }()
	require.Eventually(t, func() bool { return opened.Load() == 1 }, 5*time.Second, time.Millisecond)
	go func() { _, _, err := p.get(context.Background(), adminAt("a")); errs <- err }()
	require.Eventually(t, func() bool { return p.refs("a") == 2 }, 5*time.Second, time.Millisecond)
	cancel()
	a, b := <-errs, <-errs
	if a == nil {
		a, b = b, a
	}
	require.ErrorIs(t, a, context.Canceled)
	require.NoError(t, b)
	require.NoError(t, p.close())
}

func TestOneEngineServesManyAtOnceWithFewConnections(t *testing.T) {
	r := newRig(t, "plain")
	require.NoError(t, r.create())
	var wg sync.WaitGroup
	errs := make(chan error, 40)
	for range 40 {
		n := newRig(t, "plain")
		wg.Go(func() { errs <- r.engine.Create(context.Background(), n.admin, n.owner, n.seed) })
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	e, fresh, err := r.engine.pools.get(t.Context(), r.admin)
	require.NoError(t, err)
	defer r.engine.pools.release(e)
	require.False(t, fresh)
	require.LessOrEqual(t, e.pool.db.Stats().OpenConnections, poolMaxOpen)
}

func TestParseVersion(t *testing.T) {
	for v, want := range map[string]server{
		"10.11.19-MariaDB-0+deb12u1": {mariadb: true, major: 10, minor: 11, patch: 19},
		"11.4.2-MariaDB-log":         {mariadb: true, major: 11, minor: 4, patch: 2},
		"8.0.36":                     {major: 8, patch: 36},
		"8.4.0-commercial":           {major: 8, minor: 4},
		"5.7.44-log":                 {major: 5, minor: 7, patch: 44},
		"5.6.24":                     {major: 5, minor: 6, patch: 24},
		"nonsense":                   {},
	} {
		want.version = v
		require.Equal(t, want, parseVersion(v))
	}
	require.True(t, parseVersion("8.0.16").partialRevokes())
	require.False(t, parseVersion("8.0.15").partialRevokes())
	require.False(t, parseVersion("10.11.1-MariaDB").partialRevokes())
	require.Equal(t, factsOld, parseVersion("5.6.24").factsAccounts())
	require.Equal(t, factsOld, parseVersion("10.3.39-MariaDB").factsAccounts())
	require.Equal(t, factsMariaDB, parseVersion("10.4.0-MariaDB").factsAccounts())
	require.Equal(t, factsMySQL, parseVersion("5.7.6").factsAccounts())
}
