package lab

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

// MariaDBOptions of one instance; the zero value is good.
type MariaDBOptions struct {
	Name string // default mariadb, mariadb-2, ...
	Host string // an address of loopback; default 127.0.0.1
	Port int    // default, and when taken: any free port
	// RootPassword is random by default.
	RootPassword string
	// Args of mariadbd, after (and so stronger than) those of the lab.
	Args []string
	// TLS gives the server a certificate of the lab's own authority.
	TLS bool
	// DNSNames are more names for that certificate; it is for localhost as well.
	DNSNames []string
	// RequireTLS makes it refuse every TCP connection without TLS.
	RequireTLS bool
	// ServerID other than 0 turns the binary log on, in row format.
	ServerID int
}

// MariaDB is one running server with durable settings and small buffers.
type MariaDB struct {
	*Server
	Host         string // 127.0.0.1 by default; localhost works as well then
	Port         int
	Socket       string
	RootUser     string // root@'%', the only one
	RootPassword string
	CA           []byte // PEM, with TLS
	CAFile       string

	db *sql.DB

	replMu   sync.Mutex
	replPass map[string]string // by user
}

// StartMariaDB starts an instance on a datadir of its own.
func (l *Lab) StartMariaDB(ctx context.Context, opts MariaDBOptions) (*MariaDB, error) {
	ctx, leave, err := l.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	m := &MariaDB{Host: cmp.Or(opts.Host, loopback), RootUser: "root", RootPassword: cmp.Or(opts.RootPassword, rand.Text())}
	if m.Server, err = l.server(l.name(opts.Name, "mariadb")); err != nil {
		return nil, err
	}
	m.Socket = filepath.Join(l.runDir, m.Name+".sock")
	dir := filepath.Join(l.dir, m.Name)

	mariadbd, err := l.newMariaData(ctx, filepath.Join(dir, "data"))
	if err != nil {
		return nil, err
	}
	if m.Port, err = l.ports.pickAt(m.Host, opts.Port); err != nil {
		return nil, err
	}
	args := append([]string{
		"--no-defaults",
		"--datadir=" + filepath.Join(dir, "data"),
		"--socket=" + m.Socket,
		"--pid-file=" + filepath.Join(dir, "pid"),
		"--bind-address=" + m.Host,
		"--port=" + strconv.Itoa(m.Port),
	}, mariaArgs()...)
	if opts.ServerID != 0 {
		args = append(args, "--server-id="+strconv.Itoa(opts.ServerID),
			"--log-bin=binlog", "--binlog-format=ROW", "--log-slave-updates", "--relay-log=relay")
	}
	if opts.TLS || opts.RequireTLS {
		tlsArgs, err := m.certify(opts.DNSNames)
		if err != nil {
			return nil, err
		}
		args = append(args, tlsArgs...)
	}
	if opts.RequireTLS {
		args = append(args, "--require-secure-transport=ON")
	}
	args = append(args, opts.Args...)

	// The first start alone runs it: the statements stay out of the binary log.
	initFile := filepath.Join(dir, "init.sql")
	if err := os.WriteFile(initFile, []byte(m.initSQL()), 0o600); err != nil {
		return nil, err
	}
	m.command = func() *exec.Cmd {
		cmd := exec.Command(mariadbd, args...)
		if _, err := os.Stat(initFile); err == nil {
			cmd.Args = append(cmd.Args, "--init-file="+initFile)
		}
		return cmd
	}
	if m.db, err = m.open(); err != nil {
		return nil, err
	}
	m.ready = m.db.PingContext
	m.cleanup = func() error {
		_ = m.db.Close() // its connections may be broken: tests kill servers
		return nil
	}
	if err := m.Start(ctx); err != nil {
		return nil, err
	}
	return m, os.Remove(initFile)
}

// initSQL leaves one administrator, who may come over TCP.
func (m *MariaDB) initSQL() string {
	return "SET sql_log_bin=0;\n" +
		"DELETE FROM mysql.global_priv WHERE User IN ('', 'root');\n" +
		"FLUSH PRIVILEGES;\n" +
		"CREATE USER root@'%' IDENTIFIED BY '" + m.RootPassword + "';\n" +
		"GRANT ALL PRIVILEGES ON *.* TO root@'%' WITH GRANT OPTION;\n"
}

func (m *MariaDB) certify(names []string) ([]string, error) {
	ca, err := m.lab.ca()
	if err != nil {
		return nil, err
	}
	cert, key, err := ca.issue(m.Name, append([]string{m.Host}, names...)...)
	if err != nil {
		return nil, err
	}
	m.CA, m.CAFile = ca.pem, ca.file
	return []string{"--ssl-cert=" + cert, "--ssl-key=" + key, "--ssl-ca=" + ca.file}, nil
}

// DB is a connection pool of the administrator.
func (m *MariaDB) DB() *sql.DB { return m.db }

// Addr is host:port.
func (m *MariaDB) Addr() string { return net.JoinHostPort(m.Host, strconv.Itoa(m.Port)) }

// TLSConfig trusts the server's certificate; nil without TLS.
func (m *MariaDB) TLSConfig() *tls.Config {
	if m.CA == nil {
		return nil
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(m.CA)
	return &tls.Config{RootCAs: roots, ServerName: "localhost"}
}

// Open makes a pool for any account, on no or one database.
func (m *MariaDB) Open(user, password, database string) (*sql.DB, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.DBName = user, password, database
	cfg.Net, cfg.Addr = "tcp", m.Addr()
	cfg.TLS = m.TLSConfig()
	cfg.Timeout = 10 * time.Second
	cfg.ParseTime = true
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	return sql.OpenDB(connector), nil
}

func (m *MariaDB) open() (*sql.DB, error) { return m.Open(m.RootUser, m.RootPassword, "") }
