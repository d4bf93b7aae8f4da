package api

// Task queues. Seeding and mending have one each, so that neither starves the other.
const (
	TaskQueueSeed = "seedmend-seed"
	TaskQueueMend = "seedmend-mend"
)

// Workflow types, as registered with Temporal.
const (
	WorkflowReconcileDatabase = "ReconcileDatabase"
	WorkflowExplainSeed       = "ExplainSeed"
	WorkflowRepairReplicaAuth = "RepairReplicaAuth"
	WorkflowExplainReplica    = "ExplainReplica"
	WorkflowSweepReplicas     = "SweepReplicas"
)

// Signals, queries and updates.
const (
	SignalReconcile = "reconcile"
	SignalLook      = "look"
	QueryProgress   = "progress"
	// UpdateWait skips or changes the wait for the threshold.
	UpdateWait = "wait"
)

// Memos of a repair. They outlast a run that is terminated.
const (
	// MemoOwed holds the Threads that are to be started again.
	MemoOwed = "seedmend.owed"
	// MemoVersions holds the Versions for which a run failed for good.
	MemoVersions = "seedmend.versions"
)

// Schedules, and the IDs of what they start.
const (
	ScheduleSweep         = "seedmend-sweep"
	ScheduleSweepOperated = "seedmend-sweep-operated"
)

// Search attributes (all of type Keyword).
const (
	AttributeNamespace = "SeedmendNamespace"
	AttributeRequest   = "SeedmendRequest"
	AttributeProvider  = "SeedmendProvider"
	AttributePhase     = "SeedmendPhase"
	AttributeReason    = "SeedmendReason"
)

// SearchAttributes lists all of them, for registration.
func SearchAttributes() []string {
	return []string{AttributeNamespace, AttributeRequest, AttributeProvider, AttributePhase, AttributeReason}
}

// FieldManager owns every field that seedmend writes to the cluster.
const FieldManager = "seedmend"

// Labels and annotations.
const (
	LabelSecret   = "dbaas.lagoon.sh/secret"
	LabelService  = "dbaas.lagoon.sh/service"
	LabelInstance = "app.kubernetes.io/instance"

	// AnnotationKeepSeed on a seed Secret, set to "true", keeps it after success.
	AnnotationKeepSeed = "seedmend.dev/keep-seed"
	// AnnotationAllowOverwrite on a Secret of the output's name that is not
	// ours, set to the request's name, lets seedmend set its own keys there.
	AnnotationAllowOverwrite = "seedmend.dev/allow-overwrite"
	// AnnotationReconnect on a MariaDB, set to "true", asks for repairs where its
	// CRD drops reconnectOnAuthError; AnnotationThreshold is the duration before.
	AnnotationReconnect = "seedmend.dev/reconnect-on-auth-error"
	AnnotationThreshold = "seedmend.dev/error-duration-threshold"
)

// DatabaseWorkflowID is the ID of the one workflow that serves a request.
func DatabaseWorkflowID(namespace, name string) string {
	return "database:" + namespace + "/" + name
}

// ExplainReplicaWorkflowID is the ID of the workflow that explains a replica.
func ExplainReplicaWorkflowID(r ReplicaRef) string { return "explain-replica:" + r.Key() }

// ExplainWorkflowID is the ID of the workflow that explains a request or a seed.
func ExplainWorkflowID(namespace, name string) string {
	return "explain:" + namespace + "/" + name
}
