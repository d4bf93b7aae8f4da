package mysql

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"github.com/seedmend/seedmend/api"
)

// channelStatus is one row of the replica's status.
type channelStatus struct {
	api.Channel
	// heartbeat is the period in seconds as the server prints it; empty: not known.
	heartbeat  string
	heartbeats string // how many came
	// gtid: Received and Applied are positions of MariaDB's.
	gtid bool
	// relayFile is the primary's file that the SQL thread is in.
	relayFile string
	// retrieved and executed are MySQL's sets, with Auto_Position.
	retrieved, executed string
}

// applied tells whether nothing of what was fetched is left to apply.
func (c channelStatus) applied() bool {
	if c.gtid {
		return positionHas(c.Applied, c.Received, true)
	}
	return c.Received != "" && c.Applied == c.Received
}

// spelling turns the words of MySQL from 8.0.22 into those of before.
var spelling = strings.NewReplacer("Source_", "Master_", "Replica_", "Slave_")

// readChannels reads the status of every channel.
func (s *session) readChannels(ctx context.Context) ([]channelStatus, error) {
	rows, err := s.rows(ctx, s.server.dialect().status)
	if err != nil {
		s.note(err)
		return nil, s.at.failure(ctx, stepStatus, err)
	}
	all := make([]channelStatus, 0, len(rows))
	for _, row := range rows {
		all = append(all, parseStatus(row))
	}
	return all, nil
}

// readChannel is the status of one channel; ok is false where there is none.
// Servers compare channels' names without case.
func (s *session) readChannel(ctx context.Context, name string) (c channelStatus, ok bool, err error) {
	all, err := s.readChannels(ctx)
	for _, c := range all {
		if strings.EqualFold(c.Name, name) {
			return c, true, err
		}
	}
	return channelStatus{}, false, err
}

func parseStatus(row map[string]string) channelStatus {
	number := func(name string) int {
		n, _ := strconv.Atoi(row[name])
		return n
	}
	id, _ := strconv.ParseInt(row["Master_Server_Id"], 10, 64)
	c := channelStatus{
		Channel: api.Channel{
			Name: row["Connection_name"] + row["Channel_Name"],
			IO:   row["Slave_IO_Running"], SQL: row["Slave_SQL_Running"] == "Yes",
			IOErrno: number("Last_IO_Errno"), SQLErrno: number("Last_SQL_Errno"),
			Primary:   api.Endpoint{Host: row["Master_Host"], Port: number("Master_Port")},
			PrimaryID: id, User: row["Master_User"], Delay: number("SQL_Delay"),
			Received: position(row["Master_Log_File"], row["Read_Master_Log_Pos"]),
			Applied:  position(row["Relay_Master_Log_File"], row["Exec_Master_Log_Pos"]),
		},
		heartbeats: row["Slave_received_heartbeats"],
		relayFile:  row["Relay_Master_Log_File"],
	}
	if period := row["Slave_heartbeat_period"]; isPeriod(period) {
		c.heartbeat = period
	}
	if using := row["Using_Gtid"]; using != "" && using != "No" {
		c.gtid, c.GTID = true, using
		c.Received, c.Applied = row["Gtid_IO_Pos"], row["Gtid_Slave_Pos"]
	}
	if auto := row["Auto_Position"]; auto != "" && auto != "0" {
		c.GTID = auto
		c.retrieved, c.executed = row["Retrieved_Gtid_Set"], row["Executed_Gtid_Set"]
	}
	return c
}

func position(file, pos string) string {
	if file == "" {
		return ""
	}
	return file + ":" + pos
}

// isPeriod: it goes into a statement as it is.
func isPeriod(s string) bool {
	return s != "" && strings.Trim(s, "0123456789.") == ""
}

// rows reads a small answer by the names of its columns.
func (s *session) rows(ctx context.Context, query string, args ...any) ([]map[string]string, error) {
	rows, err := s.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, targets := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	var all []map[string]string
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		row := make(map[string]string, len(columns))
		for i, name := range columns {
			if values[i].Valid {
				row[spelling.Replace(name)] = values[i].String
			}
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

// value reads one value; NULL is not ok.
func (s *session) value(ctx context.Context, query string, args ...any) (v string, ok bool, err error) {
	var n sql.NullString
	if err := s.conn.QueryRowContext(ctx, query, args...).Scan(&n); err != nil {
		s.note(err)
		return "", false, err
	}
	return n.String, n.Valid, nil
}
