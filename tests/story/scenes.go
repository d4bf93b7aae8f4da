package story

import (
	"context"
	"crypto/rand"
	"net"
	"strconv"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
	"github.com/seedmend/seedmend/tests/lab"
	"github.com/seedmend/seedmend/tests/stage"
)

// furnish makes the namespace and two providers: development with both servers,
// and production, whose server is never there and never asked for.
func (s *story) furnish(ctx context.Context) error {
	if err := s.stage.Namespace(ctx, namespace); err != nil {
		return err
	}
	for _, m := range []*lab.MariaDB{s.one, s.two} {
		if err := s.stage.Secret(ctx, stage.ProviderNamespace, m.Name, map[string]string{"password": m.RootPassword}); err != nil {
			return err
		}
	}
	for selector, connections := range map[string][]v1alpha1.Connection{
		"development": {
			stage.Connection(s.one.Name, "localhost", s.one.Port, s.one.RootUser, s.one.Name),
			stage.Connection(s.two.Name, "localhost", s.gate.Port(), s.two.RootUser, s.two.Name),
		},
		"production": {stage.Connection("mariadb-3", "mariadb-3.example.com", 3306, "root", "mariadb-3")},
	} {
		p := &v1alpha1.RelationalDatabaseProvider{ObjectMeta: metav1.ObjectMeta{Name: selector}}
		p.Spec.Type, p.Spec.Selector, p.Spec.Connections = "mysql", selector, connections
		if _, err := s.stage.Client.RelationalDatabaseProviders().Create(ctx, p, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	s.item("resource definitions installed; provider development has mariadb-1 and mariadb-2, provider production has mariadb-3.example.com")
	return nil
}

// scenes are the rows of the verdict's table, the two ways not to match a
// provider, and the crash. Names of databases and users begin with the scene's.
func (s *story) scenes() []scene {
	adopt := s.scene("adopt", s.one)
	adopt.title, adopt.want = "Adopt: the database exists and the seed opens it", api.ReasonAdopted
	adopt.shows = "It is taken as it is: a claim is noted, nothing is created or altered, not a row is touched."
	adopt.rows = "adopt_db.orders"
	adopt.arrange = append(adopt.database(), adopt.user(), adopt.grant(),
		"CREATE TABLE adopt_db.orders (id INT PRIMARY KEY, item VARCHAR(20))",
		"INSERT INTO adopt_db.orders VALUES (1, 'apples'), (2, 'pears'), (3, 'plums')")

	denied := s.scene("access-denied", s.one)
	denied.title, denied.want = "AccessDenied: the user may not use the database", api.AccessDenied
	denied.shows = "User and database exist, and nobody granted the one the other. seedmend does not help itself to a grant."
	denied.arrange = append(denied.database(), denied.user())

	gone := s.scene("database-missing", s.one)
	gone.title, gone.want = "DatabaseMissing: the user is there, its database is not", api.DatabaseMissing
	gone.shows = "Somebody has to restore it, or correct the name; an empty one in its place would hide the loss."
	gone.arrange = []string{gone.user()}

	rejected := s.scene("credentials-rejected", s.one)
	rejected.title, rejected.want = "CredentialsRejected: the database exists, the password is wrong", api.CredentialsRejected
	rejected.shows = "One login is tried, once. The password of an account that exists is never set."
	rejected.arrange = append(rejected.database(), rejected.otherUser())

	conflict := s.scene("user-conflict", s.one)
	conflict.title, conflict.want = "UserConflict: the user belongs to somebody, the database does not exist", api.UserConflict
	conflict.shows = "Creating would mean to take over another's account."
	conflict.arrange = []string{conflict.otherUser()}

	create := s.scene("create", s.two)
	create.title, create.want = "Create: nothing exists yet", api.ReasonCreated
	create.shows = "User, password, database and grant are made exactly as the seed says, and proved."

	return []scene{adopt, denied, gone, rejected, conflict, create, s.unknownHost(), s.otherSelector(), s.killed(), s.stuck(), s.trap()}
}

// unknownHost has a server of its own, to see that nobody knocks.
func (s *story) unknownHost() scene {
	sc := s.scene("unknown-host", s.one)
	sc.title, sc.want = "ProviderNotMatched: a host that no provider knows", api.ProviderNotMatched
	sc.shows = "Only hosts that a provider names are dialled, whatever a seed says."
	var knocks atomic.Int64
	var listener net.Listener
	sc.perform = func(ctx context.Context, s *story, sc scene, r *result) (_ stage.Settlement, err error) {
		if listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return stage.Settlement{}, err
		}
		go count(listener, &knocks)
		sc.seed["hostname"], sc.seed["port"] = "127.0.0.1", strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
		return perfectlyPlain(ctx, s, sc, r)
	}
	sc.check = func(r *result) {
		listener.Close()
		r.expect(knocks.Load() == 0, "the seed's host saw %d connections", knocks.Load())
		r.shown("a listener on the seed's host and port saw %d connections", knocks.Load())
	}
	return sc
}

func count(l net.Listener, n *atomic.Int64) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		n.Add(1)
		c.Close()
	}
}

func (s *story) otherSelector() scene {
	sc := s.scene("other-selector", s.one)
	sc.title, sc.want = "ProviderNotMatched: a known host, another selector", api.ProviderNotMatched
	sc.shows = "The seed names mariadb-1, which is for development, and the request asks for production."
	sc.selector = "production"
	sc.arrange = append(sc.database(), sc.user(), sc.grant())
	return sc
}

// scene is the frame: a seed whose password has the characters that break
// careless quoting.
func (s *story) scene(name string, m *lab.MariaDB) scene {
	short := base(name)
	seed := stage.SeedFor(m, short+"_db", short+"_user", rand.Text()+`'"\ü`)
	if m == s.two {
		seed["port"] = strconv.Itoa(s.gate.Port())
	}
	return scene{request: name, server: m, seed: seed}
}
