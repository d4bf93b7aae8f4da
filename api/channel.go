package api

// AuthErrno is the IO thread's error for refused credentials
// (ER_ACCESS_DENIED_ERROR).
const AuthErrno = 1045

// States of an IO thread. "Connecting" is neither running nor failed.
const (
	IOYes        = "Yes"
	IONo         = "No"
	IOConnecting = "Connecting"
	IOPreparing  = "Preparing"
)

// Channel is one replication channel as its server reports it. The texts of
// errors are left out: they may hold rows and statements.
type Channel struct {
	Name     string `json:"name,omitempty"`
	IO       string `json:"io"`
	SQL      bool   `json:"sql"`
	IOErrno  int    `json:"ioErrno,omitempty"`
	SQLErrno int    `json:"sqlErrno,omitempty"`
	// Primary is where the channel connects to.
	Primary Endpoint `json:"primary"`
	// PrimaryID is the server_id of the primary last seen; 0 where none was.
	PrimaryID int64  `json:"primaryID,omitempty"`
	User      string `json:"user"`
	// GTID is Using_Gtid (MariaDB) or Auto_Position (MySQL); empty for file positions.
	GTID string `json:"gtid,omitempty"`
	// Delay is the SQL thread's delay in seconds.
	Delay int `json:"delay,omitempty"`
	// Received and Applied are positions; they are comparable with themselves only.
	Received string `json:"received,omitempty"`
	Applied  string `json:"applied,omitempty"`
}

// Stuck tells whether the primary refuses the replica's credentials, whatever
// the IO thread's state.
func (c Channel) Stuck() bool { return c.IOErrno == AuthErrno }

// Stopped tells whether replication looks as if stopped by hand.
func (c Channel) Stopped() bool { return c.IO == IONo && c.IOErrno == 0 }

// Trial is how the Secret fared on the primary.
type Trial string

// Outcomes of a trial.
const (
	TrialProven       Trial = "proven"       // a login, or the stored hash, says so
	TrialRefused      Trial = "refused"      // the primary does not know this user with this password
	TrialInconclusive Trial = "inconclusive" // neither could tell
)

// Backlog is what a replica has fetched and not applied, and whether the
// primary still has it.
type Backlog struct {
	// Applied: nothing is left to apply.
	Applied bool `json:"applied"`
	// Kept: a change of credentials does not discard the relay log on this
	// server, or the primary's binary logs reach back far enough.
	Kept bool `json:"kept"`
	// Draining: the SQL thread runs, without a delay, so that waiting helps.
	Draining bool `json:"draining"`
	// Detail says it in words and numbers.
	Detail string `json:"detail,omitempty"`
}

// Safe tells whether a change of credentials loses nothing.
func (b Backlog) Safe() bool { return b.Applied || b.Kept }

// Outcome is how a repair ended.
type Outcome string

// Outcomes of a repair.
const (
	OutcomeRepaired   Outcome = "Repaired"   // proven to replicate
	OutcomeSQLStopped Outcome = "SQLStopped" // connected; the SQL thread stopped with an error
	OutcomeHealed     Outcome = "Healed"     // it was not stuck any more; nothing sent
	OutcomeRefused    Outcome = "Refused"    // still 1045
	OutcomeUnverified Outcome = "Unverified" // started, but not proven in time, or another error
	OutcomeUnsafe     Outcome = "Unsafe"     // nothing sent, since events would be lost
	OutcomeMismatch   Outcome = "Mismatch"   // nothing sent, since it follows another server
)

// Mending is what a repair did.
type Mending struct {
	Outcome Outcome `json:"outcome"`
	// Channel is the replica's state at the end.
	Channel Channel `json:"channel"`
	// Sent are the statements that changed something, with the password left out.
	Sent   []string `json:"sent,omitempty"`
	Detail string   `json:"detail,omitempty"`
}
