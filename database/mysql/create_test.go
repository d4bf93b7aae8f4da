package mysql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/tests/lab"
)

func TestCreateMakesWhatTheSeedSaysAndASecondRunNothing(t *testing.T) {
	r := newRig(t, "plain")
	require.NoError(t, r.create())
	r.healthy()
	after := r.state()
	require.NoError(t, r.create())
	require.Equal(t, after, r.state())
	require.NoError(t, r.adopt(), "its owner may adopt it")
	require.Equal(t, after, r.state())
}

func TestConcurrentCreatesOfOneOwnerMakeOne(t *testing.T) {
	r := newRig(t, "plain")
	var g errgroup.Group
	for range 6 {
		e := newEngine(t, Options{})
		g.Go(func() error { return r.createWith(r.ctx(), e, r.admin) })
	}
	require.NoError(t, g.Wait())
	r.healthy()
}

func TestConcurrentCreatesOfTwoOwnersMakeOneAndOneIsRefused(t *testing.T) {
	r := newRig(t, "plain")
	errs := make(chan error)
	for _, namespace := range []string{"one", "two"} {
		owner := r.owner
		owner.UID, owner.Namespace = namespace, namespace
		go func() { errs <- r.engine.Create(r.ctx(), r.admin, owner, r.seed) }()
	}
	first, second := <-errs, <-errs
	if first == nil {
		first, second = second, first
	}
	require.NoError(t, second)
	want(t, api.DatabaseClaimed, first)
	r.healthy()
}

// F17.
func TestAGrantDoesNotReachTheNeighbour(t *testing.T) {
	r := newRig(t, "plain")
	r.seed.Database = "proj_main"
	r.exec("CREATE DATABASE projXmain")
	require.NoError(t, r.create())
	r.healthy()
	neighbour := r.seed
	neighbour.Database = "projXmain"
	want(t, api.AccessDenied, r.engine.Login(r.ctx(), r.admin.Address, neighbour))

	percent := newRig(t, "plain")
	percent.seed.Database = `a%b\c`
	percent.exec(`CREATE DATABASE aXXb`, "CREATE DATABASE `aXXb\\c`")
	require.NoError(t, percent.create())
	percent.healthy()
	for _, db := range []string{"aXXb", `aXXb\c`} {
		neighbour := percent.seed
		neighbour.Database = db
		want(t, api.AccessDenied, r.engine.Login(r.ctx(), r.admin.Address, neighbour))
	}
}

func TestANameThatCannotBeGrantedAloneIsRefusedAndNothingMade(t *testing.T) {
	r := newRig(t, "plain")
	r.seed.Database = strings.Repeat("a_", 30) // 60 characters; 90 escaped
	before := r.state()
	want(t, api.NameInvalid, r.create())
	require.Equal(t, before, r.state())
}

func TestSomebodyElseWasFaster(t *testing.T) {
	t.Run("with the database: nothing is made, and no claim is left", func(t *testing.T) {
		r := newRig(t, "plain")
		r.exec("CREATE DATABASE " + r.seed.Database)
		before := r.state()
		want(t, api.CredentialsRejected, r.create())
		require.Equal(t, before, r.state())
	})
	t.Run("with the user: theirs stays as it is, and the claim holds our database", func(t *testing.T) {
		r := newRig(t, "plain")
		r.exec("CREATE USER " + r.seed.Username + " IDENTIFIED BY 'another'")
		hash := r.list("SELECT authentication_string FROM mysql.user WHERE User = ?", r.seed.Username)
		want(t, api.UserConflict, r.create())
		require.Equal(t, hash, r.list("SELECT authentication_string FROM mysql.user WHERE User = ?", r.seed.Username))
		require.Equal(t, r.seed.Username+"@% created creating", r.claim())
		want(t, api.UserConflict, r.create())

		r.seed.Username += "b" // the seed is corrected
		require.NoError(t, r.create())
		r.healthy()
	})
}

func TestResume(t *testing.T) {
	creating := func(r *rig) {
		r.Helper()
		s, err := r.engine.session(r.ctx(), r.admin)
		require.NoError(r, err)
		defer s.close()
		_, fresh, err := s.claimer(r.seed.Database).take(r.ctx(), api.Claim{
			Owner: r.owner, Username: r.seed.Username, Host: "%", Origin: api.OriginCreated, Phase: api.ClaimCreating})
		require.NoError(r, err)
		require.True(r, fresh)
	}
	t.Run("a table without our user is somebody else's: the claim goes", func(t *testing.T) {
		r := newRig(t, "plain")
		creating(r)
		r.exec("CREATE DATABASE "+r.seed.Database, "CREATE TABLE "+r.seed.Database+".t (a INT)")
		want(t, api.CredentialsRejected, r.create())
		require.Empty(t, r.claim())
		require.Empty(t, r.list("SELECT User FROM mysql.user WHERE User = ?", r.seed.Username))
	})
	t.Run("a user with another password is somebody else's", func(t *testing.T) {
		r := newRig(t, "plain")
		creating(r)
		r.exec("CREATE USER " + r.seed.Username + " IDENTIFIED BY 'another'")
		want(t, api.UserConflict, r.create())
	})
	t.Run("a table and a user with another password are somebody else's: the claim goes", func(t *testing.T) {
		r := newRig(t, "plain")
		creating(r)
		r.exec("CREATE USER "+r.seed.Username+" IDENTIFIED BY 'another'", "CREATE DATABASE "+r.seed.Database, "CREATE TABLE "+r.seed.Database+".t (a INT)")
		want(t, api.UserConflict, r.create())
		require.Empty(t, r.claim())
	})
	t.Run("a user that is locked meanwhile says so", func(t *testing.T) {
		r := newRig(t, "plain")
		creating(r)
		r.exec("CREATE USER " + r.seed.Username + " IDENTIFIED BY '" + r.seed.Password + "' ACCOUNT LOCK")
		want(t, api.AccountLocked, r.create())
	})
	t.Run("by the request that was made again under its name", func(t *testing.T) {
		r := newRig(t, "plain")
		creating(r)
		r.owner.UID = "new"
		require.NoError(t, r.create())
		r.healthy()
		require.Equal(t, []string{"new"}, r.list("SELECT owner_uid FROM seedmend.claims WHERE database_name = ?", r.seed.Database))
	})
	t.Run("adopting a half-made one keeps its origin", func(t *testing.T) {
		r := newRig(t, "plain")
		creating(r)
		r.setUp()
		require.NoError(t, r.adopt())
		r.healthy()
	})
	t.Run("with the claim ready, only the login is proven", func(t *testing.T) {
		r := newRig(t, "plain")
		require.NoError(t, r.create())
		r.exec("DROP USER " + r.seed.Username)
		before := r.state()
		want(t, api.CredentialsRejected, r.create())
		require.Equal(t, before, r.state())
	})
}

func TestClaims(t *testing.T) {
	r := newRig(t, "plain")
	r.setUp()
	hash := r.list("SELECT authentication_string FROM mysql.user WHERE User = ?", r.seed.Username)
	require.NoError(t, r.adopt())
	require.NoError(t, r.adopt(), "twice")
	require.Equal(t, r.seed.Username+"@% adopted ready", r.claim())

	t.Run("another namespace is refused, and only the operator learns whose it is (F23)", func(t *testing.T) {
		for _, other := range []api.Owner{
			{UID: r.owner.UID, Namespace: "elsewhere", Name: r.owner.Name, Cluster: r.owner.Cluster},
			{UID: r.owner.UID, Namespace: r.owner.Namespace, Name: "elsewhat", Cluster: r.owner.Cluster},
			{UID: r.owner.UID, Namespace: r.owner.Namespace, Name: r.owner.Name, Cluster: "cluster-2"},
		} {
			for _, err := range []error{
				r.engine.Adopt(r.ctx(), r.admin, other, r.seed, "%"),
				r.engine.Create(r.ctx(), r.admin, other, r.seed),
			} {
				f := want(t, api.DatabaseClaimed, err)
				require.NotContains(t, f.Message, r.owner.Name)
				require.NotContains(t, f.Message, r.owner.Namespace)
				require.Contains(t, f.Operator, r.owner.Namespace+"/"+r.owner.Name)
			}
		}
		require.Equal(t, r.seed.Username+"@% adopted ready", r.claim())
	})
	t.Run("the same request made again takes it over", func(t *testing.T) {
		again := r.owner
		again.UID = "another-uid"
		require.NoError(t, r.engine.Adopt(r.ctx(), r.admin, again, r.seed, "10.%"))
		require.Equal(t, r.seed.Username+"@10.% adopted ready", r.claim())
	})
	require.Equal(t, hash, r.list("SELECT authentication_string FROM mysql.user WHERE User = ?", r.seed.Username), "F2")
}

func TestNamesAreOneWhereTheServerFoldsCase(t *testing.T) {
	r := newRig(t, "folding")
	r.seed.Database = "ShopFold"
	require.NoError(t, r.create())
	f := r.facts()
	require.True(t, f.DatabaseExists)
	require.Equal(t, api.LoginOK, f.Access)
	require.NotNil(t, f.Claim)

	other := newRig(t, "folding")
	other.seed.Database = "shopfold"
	require.NotNil(t, other.facts().Claim)
	want(t, api.DatabaseClaimed, other.adopt())
}

func TestCreateWhileSomebodyHoldsTheLockIsBusy(t *testing.T) {
	r := newRig(t, "plain")
	conn, err := r.DB().Conn(r.ctx())
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.ExecContext(r.ctx(), "DO GET_LOCK(?, 0)", lockName(r.seed.Database))
	require.NoError(t, err)
	before := r.state()
	ctx, cancel := context.WithTimeout(r.ctx(), time.Second)
	defer cancel()
	want(t, api.ServerBusy, r.createWith(ctx, r.engine, r.admin))
	require.Equal(t, before, r.state())
	_, err = conn.ExecContext(r.ctx(), "DO RELEASE_LOCK(?)", lockName(r.seed.Database))
	require.NoError(t, err)
	require.NoError(t, r.create())
	r.healthy()
}

// A statement that waits on the server must not go through after we have left.
func TestAStatementThatHangsIsKilledWhenTheContextEnds(t *testing.T) {
	for name, stop := range map[string]func(*rig) error{
		"the context ends": func(r *rig) error {
			ctx, cancel := context.WithTimeout(r.ctx(), 500*time.Millisecond)
			defer cancel()
			err := r.createWith(ctx, r.engine, r.admin)
			require.ErrorIs(r, err, context.DeadlineExceeded)
			return err
		},
		"no answer comes in time": func(r *rig) error {
			e := newEngine(r, Options{QueryTimeout: 500 * time.Millisecond})
			err := r.createWith(r.ctx(), e, r.admin)
			want(r, api.ServerUnreachable, err)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "trouble")
			require.NoError(t, newRig(t, "trouble").create()) // the table of claims is there
			require.NoError(t, r.ResetGeneralLog(r.ctx()))
			conn, err := r.DB().Conn(r.ctx())
			require.NoError(t, err)
			defer conn.Close()
			for _, s := range []string{"BACKUP STAGE START", "BACKUP STAGE BLOCK_DDL"} {
				_, err := conn.ExecContext(r.ctx(), s)
				require.NoError(t, err)
			}
			require.Error(t, stop(r))
			// MariaDB would look after the client by itself, once a second, in
			// this kind of wait only.
			log, err := r.Statements(r.ctx())
			require.NoError(t, err)
			thread := int64(0)
			for _, s := range log {
				if strings.HasPrefix(s.Argument, "CREATE DATABASE") {
					thread = s.ThreadID
				}
			}
			require.NotZero(t, thread)
			require.True(t, slices.ContainsFunc(log, func(s lab.Statement) bool {
				return s.Argument == fmt.Sprintf("KILL %d", thread)
			}), "%v", log)
			eventually(t, "the connection is gone", func() bool {
				return len(r.list("SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE 'CREATE DATABASE%'")) == 0 &&
					r.list("SELECT IS_USED_LOCK(?)", lockName(r.seed.Database))[0] == ""
			})
			_, err = conn.ExecContext(r.ctx(), "BACKUP STAGE END")
			require.NoError(t, err)
			require.NoError(t, r.StopGeneralLog(r.ctx()))
			require.Empty(t, r.list("SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?", r.seed.Database))
			require.NoError(t, r.create())
			r.healthy()
		})
	}
}

func TestAProofThatHangsIsKilledAsWell(t *testing.T) {
	r := newRig(t, "trouble")
	require.NoError(t, r.create())
	r.exec("UPDATE seedmend.claims SET phase = 'creating' WHERE database_name = '" + r.seed.Database + "'")
	table := r.seed.Database + "." + (&creation{owner: r.owner}).proofTable()
	r.exec("CREATE TABLE " + table + " (id INT PRIMARY KEY)")
	conn, err := r.DB().Conn(r.ctx())
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.ExecContext(r.ctx(), "LOCK TABLES "+table+" READ")
	require.NoError(t, err)

	require.NoError(t, r.ResetGeneralLog(r.ctx()))
	ctx, cancel := context.WithTimeout(r.ctx(), 500*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, r.createWith(ctx, r.engine, r.admin), context.DeadlineExceeded)
	log, err := r.Statements(r.ctx())
	require.NoError(t, err)
	require.NoError(t, r.StopGeneralLog(r.ctx()))
	i := slices.IndexFunc(log, func(s lab.Statement) bool { return strings.HasPrefix(s.Argument, "DROP TABLE") })
	require.GreaterOrEqual(t, i, 0)
	require.True(t, slices.ContainsFunc(log, func(s lab.Statement) bool { return s.Argument == fmt.Sprintf("KILL %d", log[i].ThreadID) }), "%v", log)

	_, err = conn.ExecContext(r.ctx(), "UNLOCK TABLES")
	require.NoError(t, err)
	require.NoError(t, r.create())
	r.healthy()
}

func TestACutLeavesAStateThatTheNextRunFinishes(t *testing.T) {
	for name, how := range map[string]struct {
		cut
		cancel bool
	}{
		"the statement never arrives":             {cutBefore, false},
		"the statement is done, the answer lost":  {cutAfter, false},
		"the context ends before the statement":   {cutBefore, true},
		"the context ends while it is being done": {cutAfter, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, newRig(t, "plain").create()) // the table of claims is there
			for n := 1; ; n++ {
				r := newRig(t, "plain")
				r.seed.Database = strings.ReplaceAll(r.seed.Database, "shop", "cut_")
				p := newProxy(t, r.MariaDB)
				through := r.admin
				through.Address = p.address()
				ctx, cancel := context.WithCancel(r.ctx())
				defer cancel()
				var onCut func()
				if how.cancel {
					onCut = cancel
				}
				p.cut(n, how.cut, onCut)
				err := r.createWith(ctx, newEngine(t, Options{}), through)
				events, wasCut := p.seen()
				if !wasCut {
					require.NoError(t, err)
					require.Len(t, events, n-1)
					require.Greater(t, n, 11)
					r.healthy()
					return
				}
				require.Error(t, err, "cut at %d: %s", n, events[n-1])
				if how.cancel {
					require.ErrorIs(t, err, context.Canceled)
				}
				var f *api.Failure
				require.False(t, errors.As(err, &f) && f.Hard(), "a cut is no hard failure: %v", err)
				require.NoError(t, r.create(), "after a cut at %d: %s", n, events[n-1])
				r.healthy()
			}
		})
	}
}

func TestManyCutsInARowStillEndInOne(t *testing.T) {
	r := newRig(t, "plain")
	p := newProxy(t, r.MariaDB)
	through := r.admin
	through.Address = p.address()
	for n := 1; ; n++ {
		p.cut(n, cut(n%2), nil)
		err := r.createWith(r.ctx(), newEngine(t, Options{}), through)
		if _, wasCut := p.seen(); !wasCut {
			require.NoError(t, err)
			break
		}
	}
	r.healthy()
}
