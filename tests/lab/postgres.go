package lab

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/lib/pq"

	"github.com/seedmend/seedmend/tests/parts"
)

// PostgresOptions of one instance; the zero value is good.
type PostgresOptions struct {
	Name string   // default postgres, postgres-2, ...
	Port int      // default, and when taken: any free port
	Args []string // of the server, like "-c", "max_connections=50"
}

// Postgres is one running server.
type Postgres struct {
	*Server
	Host     string
	Port     int
	User     string // a superuser
	Password string // random

	db *sql.DB
}

// StartPostgres starts an instance on a data directory of its own.
func (l *Lab) StartPostgres(ctx context.Context, opts PostgresOptions) (*Postgres, error) {
	ctx, leave, err := l.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	binary, err := l.getter.Path(ctx, parts.PostgreSQL)
	if err != nil {
		return nil, err
	}
	p := &Postgres{Host: "127.0.0.1", User: "postgres", Password: rand.Text()}
	if p.Server, err = l.server(l.name(opts.Name, "postgres")); err != nil {
		return nil, err
	}
	p.stopSig = syscall.SIGINT  // "fast": does not wait for clients
	p.killSig = syscall.SIGQUIT // "immediate": a crash that takes the backends along
	if p.Port, err = l.ports.pick(opts.Port); err != nil {
		return nil, err
	}
	home, as, err := l.postgresHome(p.Name)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(home, "data")
	if err := p.initdb(ctx, filepath.Dir(binary), home, data, as); err != nil {
		return nil, err
	}
	args := append([]string{
		"-D", data, "-p", strconv.Itoa(p.Port),
		"-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories=",
		"-c", "shared_buffers=32MB",
	}, opts.Args...)
	p.command = func() *exec.Cmd { return as.command(home, binary, args...) }
	if p.db, err = p.Open(p.User, p.Password, "postgres"); err != nil {
		return nil, err
	}
	p.ready = p.db.PingContext
	p.cleanup = p.db.Close
	return p, p.Start(ctx)
}

func (p *Postgres) initdb(ctx context.Context, bin, home, data string, as account) error {
	password := filepath.Join(home, "password")
	if err := os.WriteFile(password, []byte(p.Password), 0o600); err != nil {
		return err
	}
	if err := as.own(password); err != nil {
		return err
	}
	defer os.Remove(password)
	return p.lab.run(ctx, p.Name+"-initdb", as.command(home, filepath.Join(bin, "initdb"),
		"-D", data, "-U", p.User, "--pwfile="+password, "--auth=scram-sha-256",
		"--encoding=UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions"))
}

// DB is a connection pool of the superuser, on the database postgres.
func (p *Postgres) DB() *sql.DB { return p.db }

// Addr is host:port.
func (p *Postgres) Addr() string { return net.JoinHostPort(p.Host, strconv.Itoa(p.Port)) }

// Open makes a pool for any account on one database.
func (p *Postgres) Open(user, password, database string) (*sql.DB, error) {
	connector, err := pq.NewConnectorConfig(pq.Config{
		Host: p.Host, Port: uint16(p.Port), User: user, Password: password, Database: database, SSLMode: pq.SSLModeDisable,
	})
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}
