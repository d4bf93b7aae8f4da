package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

// TestAnotherServer runs the story against a server that the lab does not have,
// such as Oracle's MySQL. It makes and drops databases and users of its own:
//
//	SEEDMEND_TEST_MYSQL=mysql://root:password@127.0.0.1:3306 go test -run AnotherServer ./database/mysql
func TestAnotherServer(t *testing.T) {
	address := os.Getenv("SEEDMEND_TEST_MYSQL")
	if address == "" {
		t.Skip("SEEDMEND_TEST_MYSQL names no server")
	}
	u, err := url.Parse(address)
	require.NoError(t, err)
	port, err := strconv.Atoi(u.Port())
	require.NoError(t, err)
	password, _ := u.User.Password()
	admin := database.Admin{
		Address: database.Address{Host: u.Hostname(), Port: port}, Username: u.User.Username(),
		Password: func(context.Context) (string, error) { return password, nil },
	}
	ctx := t.Context()
	e := newEngine(t, Options{})
	c, err := e.connector(admin.Address, admin.TLS, database.Credentials{Username: admin.Username, Password: password}, "")
	require.NoError(t, err)
	root := sql.OpenDB(c)
	defer root.Close()

	stamp := strconv.FormatInt(time.Now().UnixNano()%1e9, 36)
	seed := database.Seed{Credentials: database.Credentials{Username: "a'`\\" + stamp, Password: secret("p'\\\"` ä" + stamp)}, Database: "s_'`\\%" + stamp}
	owner := api.Owner{UID: stamp, Namespace: "team", Name: stamp, Cluster: "cluster-1"}
	defer func() {
		for _, s := range []string{"DROP DATABASE " + ident(seed.Database), "DROP USER " + account(seed.Username, "%"),
			"DELETE FROM seedmend.claims WHERE owner_uid = " + literal(stamp, true)} {
			_, err := root.ExecContext(context.Background(), s)
			require.NoError(t, err)
		}
	}()
	require.NoError(t, e.CheckNames(seed, admin.Username))
	f, err := e.Probe(ctx, admin, seed)
	require.NoError(t, err)
	t.Logf("%+v", f)
	require.Equal(t, api.LoginRefused, f.Auth)
	require.False(t, f.DatabaseExists || f.UserExists)

	other := seed
	other.Database = fmt.Sprintf("sX'`\\XX%s", stamp)
	require.NoError(t, e.Create(ctx, admin, owner, seed))
	require.NoError(t, e.Create(ctx, admin, owner, seed))
	require.NoError(t, e.Login(ctx, admin.Address, seed))
	want(t, api.AccessDenied, e.Login(ctx, admin.Address, other))
	f, err = e.Probe(ctx, admin, seed)
	require.NoError(t, err)
	t.Logf("%+v", f)
	require.Equal(t, api.LoginOK, f.Access)
	require.True(t, f.DatabaseExists && f.UserExists)
	require.Equal(t, "%", f.AccountHost)
	require.Equal(t, api.ClaimReady, f.Claim.Phase)
	require.NoError(t, e.Adopt(ctx, admin, owner, seed, "%"))
	stranger := owner
	stranger.Namespace = "elsewhere"
	want(t, api.DatabaseClaimed, e.Adopt(ctx, admin, stranger, seed, "%"))

	wrong := seed
	wrong.Password = secret("wrong" + stamp)
	want(t, api.CredentialsRejected, e.Login(ctx, admin.Address, wrong))
	missing := seed
	missing.Username = strings.Repeat("u", 129)
	missing.Database += "m"
	f, err = e.Probe(ctx, admin, missing)
	require.NoError(t, err)
	require.False(t, f.DatabaseExists || f.UserExists)
	err = e.Create(ctx, admin, owner, missing)
	want(t, api.NameInvalid, err)
	f, err = e.Probe(ctx, admin, missing)
	require.NoError(t, err)
	require.False(t, f.DatabaseExists)
	require.Nil(t, f.Claim)
}
