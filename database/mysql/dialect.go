package mysql

import (
	"strings"

	"github.com/seedmend/seedmend/database"
)

// dialect is what a server calls replication. Facts of MariaDB 10.11 and MySQL
// 5.6 are tried; those of later MySQLs are from its reference.
type dialect struct {
	// status shows every channel.
	status string
	// position shows where a primary's own binary log ends.
	position            string
	stop, start, change string
	// option goes before USER, PASSWORD and HEARTBEAT_PERIOD.
	option string
	named  naming
	// receiver: the IO thread is stopped alone, and with the SQL thread running
	// the relay log survives (MySQL from 5.7.4).
	receiver bool
	// heartbeat asks for the channel's heartbeat period, where status lacks it.
	heartbeat string
	// escapes: backslashes mean something in a string on this connection.
	escapes bool
}

// naming is where a channel's name goes.
type naming int

const (
	namedNot    naming = iota // there is one channel
	namedBefore               // STOP SLAVE 'name'
	namedAfter                // STOP SLAVE FOR CHANNEL 'name'
)

func (s server) dialect() dialect {
	d := dialect{
		status: "SHOW SLAVE STATUS", position: "SHOW MASTER STATUS",
		stop: "STOP SLAVE", start: "START SLAVE", change: "CHANGE MASTER", option: "MASTER_",
		escapes: true,
	}
	if s.mariadb {
		d.status, d.named = "SHOW ALL SLAVES STATUS", namedBefore
		return d
	}
	d.receiver = s.from(5, 7, 4)
	d.heartbeat = "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'Slave_heartbeat_period'"
	if s.from(5, 7, 6) {
		d.named = namedAfter
		d.heartbeat = "SELECT HEARTBEAT_INTERVAL FROM performance_schema.replication_connection_configuration WHERE CHANNEL_NAME = ?"
	}
	if s.from(8, 0, 22) {
		d.status, d.stop, d.start = "SHOW REPLICA STATUS", "STOP REPLICA", "START REPLICA"
	}
	if s.from(8, 0, 23) {
		d.change, d.option = "CHANGE REPLICATION SOURCE", "SOURCE_"
	}
	if s.from(8, 2, 0) {
		d.position = "SHOW BINARY LOG STATUS"
	}
	return d
}

func (d dialect) literal(s string) string { return literal(s, !d.escapes) }

// on puts a channel's name into a statement of two parts. Where MySQL knows
// channels, a statement without a name is for all of them: the default one is
// named too.
func (d dialect) on(channel, before, after string) string {
	words := []string{before}
	if d.named == namedBefore && channel != "" {
		words = append(words, d.literal(channel))
	}
	if after != "" {
		words = append(words, after)
	}
	if d.named == namedAfter {
		words = append(words, "FOR CHANNEL "+d.literal(channel))
	}
	return strings.Join(words, " ")
}

// Stop stops what has to stop for a change of credentials. On MariaDB CHANGE
// MASTER wants both threads stopped; one that is stopped already stays so.
func (d dialect) Stop(channel string) string {
	if d.receiver {
		return d.on(channel, d.stop+" IO_THREAD", "")
	}
	return d.on(channel, d.stop, "")
}

// Start starts what Stop stopped: both threads, or the IO thread alone where the
// SQL thread had been stopped by hand.
func (d dialect) Start(channel string, both bool) string {
	switch {
	case d.receiver || !both && d.named != namedBefore:
		return d.on(channel, d.start+" IO_THREAD", "")
	case !both:
		// MariaDB: START SLAVE 'name' IO_THREAD.
		return d.on(channel, d.start, "IO_THREAD")
	}
	return d.on(channel, d.start, "")
}

// withheld stands for the password in what is shown.
const withheld = "<withheld>"

// Change sets user and password. MariaDB (10.11) and MySQL 5.6 set a heartbeat
// period that the statement does not name to its default; its present value is
// the same to all of them. shown is the same without the password.
func (d dialect) Change(channel string, cred database.Credentials, heartbeat string) (statement, shown string) {
	with := func(password string) string {
		options := "TO " + d.option + "USER=" + d.literal(cred.Username) + ", " + d.option + "PASSWORD=" + password
		if heartbeat != "" {
			options += ", " + d.option + "HEARTBEAT_PERIOD=" + heartbeat
		}
		return d.on(channel, d.change, options)
	}
	return with(d.literal(cred.Password)), with(withheld)
}
