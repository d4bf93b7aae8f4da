package main

import (
	"context"
	"strconv"

	"github.com/seedmend/seedmend/tests/lab"
)

// meters are readings of everything that counts by itself.
type meters struct {
	sql     counters
	calls   tally
	cpu     cpu
	machine machine
}

func (b *bench) meters(ctx context.Context) (m meters, err error) {
	if m.sql, err = count(ctx, b.server); err != nil {
		return m, err
	}
	if m.calls, err = b.audit.read(); err != nil {
		return m, err
	}
	m.cpu, m.machine = b.times(), machineTimes()
	return m, nil
}

// counters are MariaDB's own. They cost nothing, unlike a log of statements.
type counters struct {
	statements float64 // of all kinds but SHOW STATUS, which is ours
	logins     float64 // each try, also a refused one
}

func count(ctx context.Context, m *lab.MariaDB) (counters, error) {
	// Questions would count the end of a connection as well.
	rows, err := m.DB().QueryContext(ctx, `SHOW GLOBAL STATUS WHERE Variable_name = 'Connections' OR Variable_name LIKE 'Com\_%'`)
	if err != nil {
		return counters{}, err
	}
	defer rows.Close()
	var c counters
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			return counters{}, err
		}
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return counters{}, err
		}
		switch name {
		case "Connections":
			c.logins = value
		case "Com_show_status", "Com_admin_commands":
		default:
			c.statements += value
		}
	}
	return c, rows.Err()
}
