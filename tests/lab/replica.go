package lab

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"
)

// ReplicationOptions say how a replica follows its primary.
type ReplicationOptions struct {
	// User and Password on the primary; the default is "repl" with a random
	// password, the same for all replicas of one primary.
	User, Password string
	// Channel is MariaDB's connection name; empty is the default connection.
	Channel string
	// SQL is added to CHANGE MASTER, like "MASTER_DELAY=5".
	SQL string
}

// StartReplica starts an instance that follows primary by GTID, and returns when
// it does. The primary needs a ServerID and its whole binary log.
func (l *Lab) StartReplica(ctx context.Context, primary *MariaDB, opts MariaDBOptions, repl ReplicationOptions) (*MariaDB, error) {
	if opts.Name == "" {
		opts.Name = l.name("", primary.Name+"-replica")
	}
	if opts.ServerID == 0 {
		opts.ServerID = l.serverID()
	}
	opts.Args = append([]string{"--read-only=ON"}, opts.Args...)
	m, err := l.StartMariaDB(ctx, opts)
	if err != nil {
		return nil, err
	}
	return m, m.Follow(ctx, primary, repl)
}

// Follow makes m a replica of primary, on one channel, and returns when both
// replication threads run.
func (m *MariaDB) Follow(ctx context.Context, primary *MariaDB, repl ReplicationOptions) error {
	user, password, err := primary.replicationUser(ctx, repl)
	if err != nil {
		return err
	}
	channel := ""
	if repl.Channel != "" {
		channel = quote(repl.Channel) + " "
	}
	change := fmt.Sprintf("CHANGE MASTER %sTO MASTER_HOST=%s, MASTER_PORT=%d, MASTER_USER=%s, MASTER_PASSWORD=%s, "+
		"MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1", channel, quote(primary.Host), primary.Port, quote(user), quote(password))
	if primary.CA != nil {
		change += ", MASTER_SSL=1, MASTER_SSL_CA=" + quote(primary.CAFile)
	}
	if repl.SQL != "" {
		change += ", " + repl.SQL
	}
	if err := m.exec(ctx, change, "START SLAVE "+channel); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return poll(ctx, func(ctx context.Context) error {
		status, err := m.ReplicaStatus(ctx, repl.Channel)
		if err != nil {
			return err
		}
		if status["Slave_IO_Running"] != "Yes" || status["Slave_SQL_Running"] != "Yes" {
			return retryable(fmt.Errorf("%s does not replicate: IO %s (%s), SQL %s (%s)", m.Name,
				status["Slave_IO_Running"], status["Last_IO_Error"], status["Slave_SQL_Running"], status["Last_SQL_Error"]))
		}
		return nil
	})
}

// replicationUser creates the account once, through the binary log.
func (m *MariaDB) replicationUser(ctx context.Context, repl ReplicationOptions) (user, password string, err error) {
	m.replMu.Lock()
	defer m.replMu.Unlock()
	user, password = repl.User, repl.Password
	if user == "" {
		user = "repl"
	}
	if password == "" {
		password = m.replPass[user]
	}
	if password == "" {
		password = rand.Text()
	}
	if m.replPass[user] == password {
		return user, password, nil
	}
	err = m.exec(ctx, "CREATE OR REPLACE USER "+quote(user)+"@'%' IDENTIFIED BY "+quote(password),
		"GRANT REPLICATION SLAVE ON *.* TO "+quote(user)+"@'%'")
	if err == nil {
		if m.replPass == nil {
			m.replPass = map[string]string{}
		}
		m.replPass[user] = password
	}
	return user, password, err
}

// Break makes primary refuse m on every channel that follows it as "repl": the
// user gets a new password, and the connections that stand are ended. It returns
// the new password when the channel reports 1045. Other replicas of the same
// user are refused as well.
func (m *MariaDB) Break(ctx context.Context, primary *MariaDB, channel string) (password string, err error) {
	if password, err = primary.Rotate(ctx, "repl", rand.Text()); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return password, poll(ctx, func(ctx context.Context) error {
		status, err := m.ReplicaStatus(ctx, channel)
		if err != nil {
			return err
		}
		if status["Last_IO_Errno"] != "1045" {
			return retryable(fmt.Errorf("%s: IO %s, error %s", m.Name, status["Slave_IO_Running"], status["Last_IO_Errno"]))
		}
		return nil
	})
}

// Rotate gives a replication user of m another password and ends the dump
// threads of that user, which would survive it.
func (m *MariaDB) Rotate(ctx context.Context, user, password string) (string, error) {
	m.replMu.Lock()
	defer m.replMu.Unlock()
	if err := m.exec(ctx, "ALTER USER "+quote(user)+"@'%' IDENTIFIED BY "+quote(password)); err != nil {
		return "", err
	}
	if m.replPass == nil {
		m.replPass = map[string]string{}
	}
	m.replPass[user] = password
	return password, m.exec(ctx, "KILL CONNECTION USER "+quote(user)+"@'%'")
}

// ReplicaStatus is the row of SHOW ALL SLAVES STATUS for one channel ("" is the
// default connection), NULL as "NULL".
func (m *MariaDB) ReplicaStatus(ctx context.Context, channel string) (map[string]string, error) {
	rows, err := m.db.QueryContext(ctx, "SHOW ALL SLAVES STATUS")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, targets := make([]*string, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		row := map[string]string{}
		for i, c := range columns {
			row[c] = "NULL"
			if values[i] != nil {
				row[c] = *values[i]
			}
		}
		if row["Connection_name"] == channel {
			return row, rows.Err()
		}
	}
	return nil, fmt.Errorf("%s has no replication channel %q", m.Name, channel)
}

// quote is good for the default sql_mode, which the lab's servers have.
func quote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
