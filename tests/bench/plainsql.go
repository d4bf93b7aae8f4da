package main

import (
	"context"
	"errors"

	"github.com/go-sql-driver/mysql"

	"github.com/seedmend/seedmend/tests/lab"
)

// ledger makes a table as seedmend's claims are.
func ledger(ctx context.Context, m *lab.MariaDB) error {
	for _, statement := range []string{
		"CREATE DATABASE ledger",
		`CREATE TABLE ledger.claims (database_name VARCHAR(64) NOT NULL PRIMARY KEY, owner_uid VARCHAR(64) NOT NULL,
 namespace VARCHAR(63) NOT NULL, name VARCHAR(253) NOT NULL, username VARCHAR(128) NOT NULL, host VARCHAR(255) NOT NULL,
 origin VARCHAR(16) NOT NULL, phase VARCHAR(16) NOT NULL, created_at DATETIME NOT NULL, updated_at DATETIME NOT NULL
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
	} {
		if _, err := m.DB().ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// sql sends what seedmend sends for a creation, logins included.
func (p plain) sql(ctx context.Context, o order) error {
	var denied *mysql.MySQLError
	if err := p.tenant(ctx, o); !errors.As(err, &denied) || denied.Number != 1045 {
		return errors.New("the account exists already")
	}
	admin, err := p.server.DB().Conn(ctx)
	if err != nil {
		return err
	}
	defer admin.Close()
	exec := func(query string, args ...any) {
		if err == nil {
			_, err = admin.ExecContext(ctx, query, args...)
		}
	}
	exec("SELECT 'database', SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = '" + o.database + "'" +
		" UNION ALL SELECT 'account', Host FROM mysql.global_priv WHERE User = '" + o.username + "'" +
		" UNION ALL SELECT 'claim', owner_uid FROM ledger.claims WHERE database_name = '" + o.database + "'")
	exec("SELECT GET_LOCK('" + o.database + "', 5)")
	exec("INSERT INTO ledger.claims VALUES ('" + o.database + "', UUID(), '" + o.namespace + "', '" + o.name + "', '" + o.username +
		"', '%', 'created', 'creating', UTC_TIMESTAMP(), UTC_TIMESTAMP())")
	for _, statement := range o.creation() {
		exec(statement)
	}
	if err == nil {
		err = p.tenant(ctx, o, "CREATE TABLE proof (id INT PRIMARY KEY)", "DROP TABLE proof")
	}
	exec("UPDATE ledger.claims SET phase = 'ready', updated_at = UTC_TIMESTAMP() WHERE database_name = '" + o.database + "'")
	exec("DO RELEASE_LOCK('" + o.database + "')")
	if err == nil {
		err = p.tenant(ctx, o, "SELECT CURRENT_USER()")
	}
	return err
}

// tenant logs in with the account and runs statements.
func (p plain) tenant(ctx context.Context, o order, statements ...string) error {
	db, err := p.server.Open(o.username, o.password, o.database)
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, statement := range statements {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
