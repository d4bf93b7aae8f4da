package api

import (
	"context"
	"time"
)

// MendSteps are the activities of RepairReplicaAuth and SweepReplicas. A step
// that finds trouble which may pass by itself says so in its answer's Trouble;
// its error is a hard failure, or a step that was cut.
type MendSteps interface {
	// Inspect reads the resource live and the replica's state; where the time
	// has come, it also proves the Secret on the primary and finds out what is
	// not applied yet. It changes nothing.
	Inspect(ctx context.Context, in InspectInput) (Inspection, error)
	// Drain waits for the SQL thread to apply what has been fetched.
	Drain(ctx context.Context, in DrainInput) (Drained, error)
	// Repair changes the credentials and proves that the replica replicates.
	Repair(ctx context.Context, in RepairInput) (Repair, error)
	// Resume starts what an earlier repair has stopped. START is owed, so its
	// trouble is an error, and it is tried again.
	Resume(ctx context.Context, in ResumeInput) (Resumption, error)
	// Tell writes the replica's state to the resource, in its status or as an event.
	Tell(ctx context.Context, in TellInput) (Done, error)
	// Sweep looks at every replica, and starts or wakes the runs that are needed.
	Sweep(ctx context.Context, in SweepInput) (SweepResult, error)
}

// MendInput starts RepairReplicaAuth.
type MendInput struct {
	Replica ReplicaRef `json:"replica"`
	// Since is when the error was first seen, where the starter knows.
	Since time.Time `json:"since,omitzero"`
	// Manual: a person asks, so neither the threshold nor the resource's opt-in
	// is waited for.
	Manual bool `json:"manual,omitempty"`
	// Owed is what an earlier run that was cut has left stopped.
	Owed Threads `json:"owed,omitempty"`
	// SearchAttributes says that they are registered and may be set.
	SearchAttributes bool `json:"searchAttributes,omitempty"`
	// State is carried over when a run continues as new.
	State *MendState `json:"state,omitempty"`
}

// The waits of a repair.
const (
	// VerifyTime is how long a started replica may take to replicate: one that a
	// primary at its limit has refused tries again after its connect-retry
	// interval, whose default is 60 s.
	VerifyTime = time.Minute
	// PauseFirst is the pause before the next look at a replica that is left as
	// it is; it doubles up to PauseMaximum.
	PauseFirst   = 30 * time.Second
	PauseMaximum = 15 * time.Minute
	// CoolDownMaximum bounds the growing pause after a repair that failed.
	CoolDownMaximum = 6 * time.Hour
)

// Threads names the replication threads that are to run again.
type Threads string

// Threads that a repair stops.
const (
	ThreadsNone Threads = ""
	ThreadsIO   Threads = "io"  // the SQL thread had been stopped before
	ThreadsAll  Threads = "all" // both
)

// MendState is what a run knows beside its input.
type MendState struct {
	// Since is when the error was first seen.
	Since time.Time `json:"since,omitzero"`
	// Threshold replaces the resource's, by a person's update.
	Threshold *time.Duration `json:"threshold,omitempty"`
	Skip      bool           `json:"skip,omitempty"`
	Manual    bool           `json:"manual,omitempty"`
	// Owed threads have been stopped by us and not been seen running since.
	Owed Threads `json:"owed,omitempty"`
	// Reason is why the replica is left as it is at present; Pauses counts the
	// looks that found it, Failures the repairs that did not help.
	Reason   Reason `json:"reason,omitempty"`
	Pauses   int    `json:"pauses,omitempty"`
	Failures int    `json:"failures,omitempty"`
	// NotBefore is when the next try is due. Other Versions, or a SQL thread that
	// has been started or stopped, cut that short.
	NotBefore time.Time `json:"notBefore,omitzero"`
	Versions  Versions  `json:"versions,omitzero"`
	SQL       bool      `json:"sql,omitempty"`
	// Told is the reason that the resource was last told.
	Told Reason `json:"told,omitempty"`
	// Position is the last received position.
	Position string `json:"position,omitempty"`
}

// Versions change when the Secret, the primary's account or the resource do.
type Versions struct {
	Secret     string `json:"secret,omitempty"`
	Account    string `json:"account,omitempty"`
	Generation int64  `json:"generation,omitempty"`
}

// MendResult is what a run that did not fail answers.
type MendResult struct {
	Outcome Outcome `json:"outcome"`
	Message string  `json:"message"`
	// Sent are the statements, with the password left out.
	Sent []string `json:"sent,omitempty"`
}

// OutcomeNothing is a run that ended without anything to do, or that was no
// longer asked for.
const OutcomeNothing Outcome = "Nothing"

// WaitUpdate changes the wait for the threshold: exactly one field is set.
type WaitUpdate struct {
	// Skip ends the wait now.
	Skip bool `json:"skip,omitempty"`
	// Threshold replaces the resource's, counted from when the error began.
	Threshold *time.Duration `json:"threshold,omitempty"`
}

// WaitAnswer says how the wait stands after an update.
type WaitAnswer struct {
	Message string `json:"message"`
}

// LookSignal wakes a run: something has changed.
type LookSignal struct {
	Why string `json:"why"`
}

// Trouble is why a step left things as they are.
type Trouble struct {
	Reason  Reason `json:"reason"`
	Message string `json:"message"`
}

// InspectInput is the input of Inspect.
type InspectInput struct {
	Replica ReplicaRef `json:"replica"`
	// Versions asks for the versions of Secret and account, too.
	Versions bool `json:"versions,omitempty"`
	// Prove asks for Proof and Backlog, where the replica may need a repair.
	Prove bool `json:"prove,omitempty"`
}

// Inspection is what Inspect found.
type Inspection struct {
	// Ended says that there is nothing to mend here any more, and why.
	Ended string `json:"ended,omitempty"`
	// Off: the resource does not ask for repairs.
	Off     bool       `json:"off,omitempty"`
	Trouble *Trouble   `json:"trouble,omitempty"`
	Target  MendTarget `json:"target,omitzero"`
	Channel *Channel   `json:"channel,omitempty"`
	// Since is when the resource says that the error began.
	Since    time.Time `json:"since,omitzero"`
	Versions Versions  `json:"versions,omitzero"`
	Proof    *Proof    `json:"proof,omitempty"`
	Backlog  *Backlog  `json:"backlog,omitempty"`
}

// MendTarget is what the steps after Inspect work on. Credentials are read by
// each step.
type MendTarget struct {
	Group   GroupRef     `json:"group"`
	Replica GroupReplica `json:"replica"`
	Primary Endpoint     `json:"primary"`

	Admin        CredentialRef `json:"admin"`
	Replication  CredentialRef `json:"replication"`
	TLS          TLSRef        `json:"tls,omitzero"`
	Threshold    time.Duration `json:"threshold"`
	DrainTimeout time.Duration `json:"drainTimeout"`
}

// Ref names the replica.
func (t MendTarget) Ref() ReplicaRef {
	return ReplicaRef{Group: t.Group, Replica: t.Replica.Name, Channel: t.Replica.Channel}
}

// Proof is how the Secret fared on the primary.
type Proof struct {
	// Refused says why the Secret cannot be used.
	Refused  *Trouble `json:"refused,omitempty"`
	Trial    Trial    `json:"trial,omitempty"`
	Detail   string   `json:"detail,omitempty"`
	Versions Versions `json:"versions,omitzero"`
}

// DrainInput is the input of Drain.
type DrainInput struct {
	Target MendTarget `json:"target"`
}

// Drained is what is left to apply.
type Drained struct {
	Trouble *Trouble `json:"trouble,omitempty"`
	Backlog Backlog  `json:"backlog"`
}

// RepairInput is the input of Repair.
type RepairInput struct {
	Target MendTarget `json:"target"`
	// SecretVersion is the Secret that was proven; another one is proven anew.
	SecretVersion string        `json:"secretVersion"`
	Owed          bool          `json:"owed,omitempty"`
	Verify        time.Duration `json:"verify"`
}

// Repair is what Repair did.
type Repair struct {
	// Cut: an attempt before this one did not end, and may have stopped the replica.
	Cut     bool     `json:"cut,omitempty"`
	Trouble *Trouble `json:"trouble,omitempty"`
	Mending Mending  `json:"mending,omitzero"`
}

// ResumeInput is the input of Resume.
type ResumeInput struct {
	Target  MendTarget `json:"target"`
	Threads Threads    `json:"threads"`
}

// Resumption is what Resume found.
type Resumption struct {
	// Held says why START would lose events itself.
	Held *Trouble `json:"held,omitempty"`
	// Sent is the statement; empty where the threads ran.
	Sent string `json:"sent,omitempty"`
}

// TellInput is the input of Tell.
type TellInput struct {
	Replica ReplicaRef `json:"replica"`
	Phase   string     `json:"phase"`
	Reason  Reason     `json:"reason"`
	Message string     `json:"message"`
	IOErrno int        `json:"ioErrno"`
	Since   time.Time  `json:"since,omitzero"`
	// Repaired is when credentials were changed with success.
	Repaired time.Time `json:"repaired,omitzero"`
	// Quiet leaves the event out.
	Quiet bool `json:"quiet,omitempty"`
}

// SweepInput starts SweepReplicas.
type SweepInput struct {
	// Operated looks at every MariaDB resource that opted in; without it, at
	// ReplicationGroups, and at those MariaDB resources that report an error.
	Operated bool `json:"operated,omitempty"`
}

// SweepResult counts what a sweep saw.
type SweepResult struct {
	Replicas    int `json:"replicas"`
	Stuck       int `json:"stuck"`
	Unreachable int `json:"unreachable"`
	Woken       int `json:"woken"` // runs started or signalled
}

// MendProgress answers the query "progress" of a repair.
type MendProgress struct {
	Replica string    `json:"replica"`
	Phase   string    `json:"phase"`
	Reason  Reason    `json:"reason,omitempty"`
	Message string    `json:"message,omitempty"`
	Until   time.Time `json:"until,omitzero"` // of a wait
	// Position is the last received position that a look found.
	Position string `json:"position,omitempty"`
	Steps    []Step `json:"steps"`
}

// ReplicaExplanation is what a repair would do now.
type ReplicaExplanation struct {
	// Would says whether it would go on to change credentials.
	Would   bool     `json:"would"`
	Reason  Reason   `json:"reason,omitempty"`
	Message string   `json:"message"`
	Channel *Channel `json:"channel,omitempty"`
	Proof   *Proof   `json:"proof,omitempty"`
	Backlog *Backlog `json:"backlog,omitempty"`
	// Until is when the threshold passes.
	Until time.Time `json:"until,omitzero"`
}
