package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

var nasty = []string{
	"plain", "it's", `"double"`, "back`tick", `a\b`, `\`, `\'`, `'; DROP USER root; -- `, "p@ss word", "100%25",
	"?{^]#=&", "pä€", " leading", "trailing ", "nl\n", "\x1a\b\t\r", "a''b", "``", "--", "/*", "*/", "#", "%_\\%\\_", "😀", "a\x00b", "\xff\xfe", "é\xe9",
}

// quoting compares what the server reads with what was meant.
func quoting(t testing.TB, conn *sql.Conn, noBackslashEscapes bool, s string) {
	ctx := context.Background()
	var back []byte
	err := conn.QueryRowContext(ctx, "SELECT CAST("+literal(s, noBackslashEscapes)+" AS BINARY)").Scan(&back)
	require.NoError(t, err, "%q", s)
	require.Equal(t, s, string(back))
	// The driver's own quoting, which follows the mode that the server reports.
	require.NoError(t, conn.QueryRowContext(ctx, "SELECT CAST(? AS BINARY)", s).Scan(&back))
	require.Equal(t, s, string(back))

	if checkName("username", s, 64) != nil {
		return
	}
	rows, err := conn.QueryContext(ctx, "SELECT 1 AS "+ident("_"+s))
	require.NoError(t, err, "%q", s)
	columns, err := rows.Columns()
	require.NoError(t, rows.Close())
	require.NoError(t, err)
	require.Equal(t, "_"+s, columns[0])
}

var modes = map[string]string{
	"plain": "STRICT_TRANS_TABLES",
	"both":  "STRICT_ALL_TABLES,ANSI_QUOTES,NO_BACKSLASH_ESCAPES",
	"ansi":  "ANSI_QUOTES",
}

// modeConns gives a connection in each mode.
func modeConns(t testing.TB) map[string]*sql.Conn {
	r := newRig(t, "plain")
	c, err := r.engine.connector(r.admin.Address, r.admin.TLS, database.Credentials{Username: r.RootUser, Password: r.RootPassword}, "")
	require.NoError(t, err)
	db := sql.OpenDB(c)
	t.Cleanup(func() { db.Close() })
	conns := map[string]*sql.Conn{}
	for name, mode := range modes {
		conn, err := db.Conn(context.Background())
		require.NoError(t, err)
		_, err = conn.ExecContext(context.Background(), "SET SESSION sql_mode = '"+mode+"'")
		require.NoError(t, err)
		conns[name] = conn
	}
	return conns
}

func FuzzQuoting(f *testing.F) {
	for _, s := range nasty {
		f.Add(s)
	}
	conns := modeConns(f)
	f.Fuzz(func(t *testing.T, s string) {
		for name, conn := range conns {
			quoting(t, conn, name == "both", s)
		}
	})
}

func TestQuotingHoldsForRandomStrings(t *testing.T) {
	conns := modeConns(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		s := randomString(random)
		for name, conn := range conns {
			quoting(t, conn, name == "both", s)
		}
	}
}

func randomString(random *rand.Rand) string {
	var b strings.Builder
	for range 1 + random.IntN(20) {
		switch random.IntN(3) {
		case 0:
			b.WriteString(nasty[random.IntN(len(nasty))])
		case 1:
			b.WriteByte("'\"`\\%_;-/*#\n\t ?@"[random.IntN(16)])
		default:
			b.WriteByte(byte(random.IntN(256)))
		}
	}
	return b.String()
}

// F12, F13, F16, F22: names and passwords of every kind, made, adopted and used.
func TestCreateWithNastyNamesAndPasswords(t *testing.T) {
	for _, kind := range []string{"plain", "modes", "folding"} {
		t.Run(kind, func(t *testing.T) {
			for i, s := range append([]string{"ak-test", "select", "x`; DROP USER 'root'@'%'; --", "äöü"}, nasty...) {
				r := newRig(t, kind)
				r.seed.Password = secret(fmt.Sprintf("pw-%d-", i) + s)
				if r.names() != nil {
					continue // a NUL
				}
				name := strings.ToLower(s) // folding keeps lower case
				if checkName("database", name+"x", 60) == nil && checkNew(database.Seed{Database: name}) == nil {
					r.seed.Database = fmt.Sprintf("%s%d%s", name, i, kind[:1])
					r.seed.Username = fmt.Sprintf("%s%d%su", name, i, kind[:1])
				}
				require.NoError(t, r.names())
				require.NoError(t, r.create(), "%q", s)
				r.healthy()
				f := r.facts()
				require.Equal(t, api.LoginOK, f.Access)
				require.True(t, f.DatabaseExists && f.UserExists, "%q", s)
				require.NoError(t, r.adopt())
				wrong := r.seed
				wrong.Password = secret(r.seed.Password + " ")
				want(t, api.CredentialsRejected, r.check(r.engine.Login(r.ctx(), r.admin.Address, wrong)))
			}
		})
	}
}

func TestAServerThatReadsEverythingAsLatin1StoresAndFindsTheSameBytes(t *testing.T) {
	r := newRig(t, "latin1")
	r.seed.Username, r.seed.Database, r.seed.Password = "äpp€", "shöp", secret("pä€ss")
	require.NoError(t, r.create())
	f := r.facts()
	require.Equal(t, api.LoginOK, f.Access)
	require.True(t, f.DatabaseExists && f.UserExists)
	require.Equal(t, "%", f.AccountHost)
	require.Equal(t, "äpp€", f.Claim.Username)
	require.Empty(t, f.Hint)
}

// A backslash is the second byte of a character there.
func TestAServerThatReadsEverythingAsGBKIsNoWayIn(t *testing.T) {
	r := newRig(t, "gbk")
	r.seed.Password = secret("\xbf\\ or 1=1; DROP DATABASE mysql; -- ")
	require.NoError(t, r.create())
	r.healthy()

	n := newRig(t, "gbk")
	n.seed.Database = "\u4f60`.* TO root; -- x" // in UTF-8 the character ends in 0xa0
	before := n.state()
	require.NoError(t, n.names())
	_, err := n.probe()
	require.NoError(t, err)
	if err := n.create(); err == nil {
		n.healthy()
	} else {
		// The login of that name is read as GBK, in which it is another one.
		want(t, api.ProofFailed, err)
		require.Subset(t, n.state(), before)
	}
}
