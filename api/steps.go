package api

import "context"

// SeedSteps are the activities of ReconcileDatabase. Workflows call them by
// method expression (SeedSteps.Probe), so that orchestration does not import
// what the steps are made of. Every step may run twice and be cut anywhere.
type SeedSteps interface {
	// Admit checks the request, its outputs' names, its seed and its provider.
	// It reads the cluster only; no database server is contacted.
	Admit(ctx context.Context, in AdmitInput) (Admission, error)
	// Probe finds the facts on the server. It changes nothing.
	Probe(ctx context.Context, in StepInput) (Facts, error)
	// Adopt claims a database that exists.
	Adopt(ctx context.Context, in AdoptInput) (Done, error)
	// Create claims and makes database, user and grants, or finishes them.
	Create(ctx context.Context, in StepInput) (Done, error)
	// Publish writes Secret and Service, and logs in with the bytes read back.
	Publish(ctx context.Context, in PublishInput) (Published, error)
	// Finish sets Ready, tells an event, and then deletes the seed Secret.
	Finish(ctx context.Context, in FinishInput) (Done, error)
	// Report writes a status that is not Ready: waiting, or failed for good.
	Report(ctx context.Context, in ReportInput) (Done, error)
}

// AdmitInput is the input of Admit.
type AdmitInput struct {
	Request Request `json:"request"`
	Recheck bool    `json:"recheck,omitempty"`
}

// Admission is what Admit found.
type Admission struct {
	// Request replaces the run's own where the live object is newer.
	Request *Request `json:"request,omitempty"`
	// Ended says that there is nothing to do, and why.
	Ended string `json:"ended,omitempty"`
	// SeedPending says that the seed Secret does not exist yet.
	SeedPending bool   `json:"seedPending,omitempty"`
	Target      Target `json:"target,omitzero"`
}

// Target is what the steps after Admit work on. Credentials are read by each
// step from Source.
type Target struct {
	Connection Connection `json:"connection"`
	Source     Source     `json:"source"`
	Database   string     `json:"database"`
	Username   string     `json:"username"`
}

// Source says where the credentials stand: the seed Secret, or our own output
// Secret once the seed is gone.
type Source struct {
	SecretRef
	Output bool `json:"output,omitempty"`
	// UID and Version (resourceVersion) of the seed that was admitted; a step
	// that finds others answers SeedChanged.
	UID      string `json:"uid,omitempty"`
	Version  string `json:"version,omitempty"`
	KeepSeed bool   `json:"keepSeed,omitempty"`
}

// StepInput is the input of Probe and Create.
type StepInput struct {
	Request Request `json:"request"`
	Target  Target  `json:"target"`
}

// AdoptInput is the input of Adopt.
type AdoptInput struct {
	StepInput
	// AccountHost is the host part of the account row that the probe logged in with.
	AccountHost string `json:"accountHost"`
}

// PublishInput is the input of Publish.
type PublishInput struct{ StepInput }

// Published is what Publish wrote.
type Published struct {
	// ServiceStyle is ExternalName or EndpointSlice.
	ServiceStyle string `json:"serviceStyle,omitempty"`
	// Gone says that the request does not exist any more.
	Gone bool `json:"gone,omitempty"`
}

// FinishInput is the input of Finish.
type FinishInput struct {
	StepInput
	Reason  Reason `json:"reason"`
	Message string `json:"message"`
}

// ReportInput is the input of Report.
type ReportInput struct {
	Request Request `json:"request"`
	Reason  Reason  `json:"reason"`
	Message string  `json:"message"`
	// Failed sets Error to True besides Ready to False.
	Failed bool `json:"failed,omitempty"`
}

// Done is the answer of a step that has nothing to tell but a remark.
type Done struct {
	// Gone says that the request does not exist any more.
	Gone bool   `json:"gone,omitempty"`
	Note string `json:"note,omitempty"`
}
