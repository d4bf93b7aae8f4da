package api

import "time"

// Tuning holds the waits of a run. It travels in the input, so that a run keeps
// the values that it was started with.
type Tuning struct {
	// Deadline bounds the retries of soft failures (default 1 h).
	Deadline time.Duration `json:"deadline,omitempty"`
	// SeedWait is how long a seed Secret that does not exist is waited for (default 30 s).
	SeedWait time.Duration `json:"seedWait,omitempty"`
}

// WithDefaults fills what is not set.
func (t Tuning) WithDefaults() Tuning {
	if t.Deadline <= 0 {
		t.Deadline = time.Hour
	}
	if t.SeedWait <= 0 {
		t.SeedWait = 30 * time.Second
	}
	return t
}

// ReconcileInput starts ReconcileDatabase.
type ReconcileInput struct {
	Request Request `json:"request"`
	// Recheck asks the run to look at the live object first, and to end when it
	// is terminal already: set where the starter's view may be stale.
	Recheck bool `json:"recheck,omitempty"`
	// SearchAttributes says that they are registered and may be set.
	SearchAttributes bool   `json:"searchAttributes,omitempty"`
	Tuning           Tuning `json:"tuning,omitzero"`
}

// ReconcileSignal reaches a run that is under way.
type ReconcileSignal struct {
	Request Request `json:"request"`
	// Manual asks for another look even where the generation is the same.
	Manual bool `json:"manual,omitempty"`
	// Deleted says that the object is gone.
	Deleted bool `json:"deleted,omitempty"`
}

// ReconcileResult is what a run that did not fail answers.
type ReconcileResult struct {
	Verdict    Verdict       `json:"verdict"`
	Connection ConnectionRef `json:"connection,omitzero"`
	Database   string        `json:"database,omitempty"`
	Username   string        `json:"username,omitempty"`
	Message    string        `json:"message,omitempty"`
}

// Phases of a run, as told by the query, the search attribute and status.
const (
	PhaseAdmitting  = "Admitting"
	PhaseWaiting    = "WaitingForSeed"
	PhaseProbing    = "Probing"
	PhaseAdopting   = "Adopting"
	PhaseCreating   = "Creating"
	PhasePublishing = "Publishing"
	PhaseReady      = "Ready"
	PhaseRetrying   = "Retrying"
	PhaseFailed     = "Failed"
	PhaseEnded      = "Ended"
)

// Progress answers the query "progress".
type Progress struct {
	Request string  `json:"request"`
	Phase   string  `json:"phase"`
	Verdict Verdict `json:"verdict,omitempty"`
	Reason  Reason  `json:"reason,omitempty"`
	Message string  `json:"message,omitempty"`
	Steps   []Step  `json:"steps"`
}

// Step is one thing done in a run.
type Step struct {
	Name   string `json:"name"`
	Result string `json:"result"`
}

// ExplainInput starts ExplainSeed: what would happen, nothing done.
type ExplainInput struct {
	Request Request `json:"request"`
}

// Explanation is the verdict that a run would reach now.
type Explanation struct {
	Verdict    Verdict     `json:"verdict,omitempty"`
	Reason     Reason      `json:"reason,omitempty"`
	Message    string      `json:"message"`
	Connection *Connection `json:"connection,omitempty"`
	Database   string      `json:"database,omitempty"`
	Username   string      `json:"username,omitempty"`
	Facts      *Facts      `json:"facts,omitempty"`
}
