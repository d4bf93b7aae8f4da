package api

import (
	"net/url"
	"time"
)

// Kinds of resources whose replicas are mended.
const (
	KindReplicationGroup = "ReplicationGroup" // seedmend.dev/v1alpha1
	KindMariaDB          = "MariaDB"          // k8s.mariadb.com/v1alpha1
)

// GroupRef names a primary with its replicas.
type GroupRef struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// Key is namespace/name.
func (r GroupRef) Key() string { return r.Namespace + "/" + r.Name }

// ReplicaRef names one channel of one replica.
type ReplicaRef struct {
	Group   GroupRef `json:"group"`
	Replica string   `json:"replica"`
	// Channel is MariaDB's connection name or MySQL's channel; empty is the default.
	Channel string `json:"channel,omitempty"`
}

// Key is namespace/group/replica, and /channel where it has a name. A slash in
// a channel's name is escaped.
func (r ReplicaRef) Key() string {
	key := r.Group.Key() + "/" + r.Replica
	if r.Channel != "" {
		key += "/" + url.PathEscape(r.Channel)
	}
	return key
}

// ReplicaWorkflowID is the ID of the one workflow that mends a replica.
func ReplicaWorkflowID(r ReplicaRef) string { return "replica:" + r.Key() }

// Endpoint is where a server listens.
type Endpoint struct {
	Host string `json:"host"`
	Port int    `json:"port"`
}

// CredentialRef says where a username and a password stand. Where Username is
// set the user is fixed and UsernameKey is not read.
type CredentialRef struct {
	SecretRef
	Username    string `json:"username,omitempty"`
	UsernameKey string `json:"usernameKey,omitempty"`
	PasswordKey string `json:"passwordKey"`
}

// TLSRef says how a group's servers are connected to.
type TLSRef struct {
	// Mode is disabled, preferred, required or verify; empty is the process's default.
	Mode string `json:"mode,omitempty"`
	// CA names the Secret with the certificates that verify trusts; CAKey its key.
	CA    *SecretRef `json:"ca,omitempty"`
	CAKey string     `json:"caKey,omitempty"`
}

// Group is a primary with its replicas, as its resource has it at one
// generation. No credential is in it.
type Group struct {
	GroupRef
	UID        string         `json:"uid"`
	Generation int64          `json:"generation"`
	Primary    Endpoint       `json:"primary"`
	Replicas   []GroupReplica `json:"replicas"`
	// Admin logs in to the primary and to every replica.
	Admin CredentialRef `json:"admin"`
	// Replication is what the replicas log in to the primary with.
	Replication CredentialRef `json:"replication"`
	TLS         TLSRef        `json:"tls,omitzero"`
	// OptedIn: repairs are asked for.
	OptedIn bool `json:"optedIn,omitempty"`
	// Switching: the operator is moving the primary.
	Switching    bool          `json:"switching,omitempty"`
	Threshold    time.Duration `json:"threshold"`
	DrainTimeout time.Duration `json:"drainTimeout"`
	// Rebuild is after how long the operator itself rebuilds a replica from a
	// backup; 0 = never.
	Rebuild time.Duration `json:"rebuild,omitempty"`
	// Invalid says what is wrong with the resource.
	Invalid string `json:"invalid,omitempty"`
}

// GroupReplica is one replica of a group.
type GroupReplica struct {
	Name    string `json:"name"`
	Channel string `json:"channel,omitempty"`
	Endpoint
	// Reported is what the resource's status says of it; nil where it says nothing.
	Reported *Reported `json:"reported,omitempty"`
}

// Reported is a replica's error as the resource's status has it.
type Reported struct {
	IOErrno int `json:"ioErrno"`
	// Since is when the error began; zero where that is not known.
	Since time.Time `json:"since,omitzero"`
	// Reason is the one of a ReplicationGroup's status.
	Reason Reason `json:"reason,omitempty"`
}

// Find returns a replica of the group.
func (g Group) Find(r ReplicaRef) (GroupReplica, bool) {
	for _, each := range g.Replicas {
		if each.Name == r.Replica && each.Channel == r.Channel {
			return each, true
		}
	}
	return GroupReplica{}, false
}

// Ref names a replica of the group.
func (g Group) Ref(r GroupReplica) ReplicaRef {
	return ReplicaRef{Group: g.GroupRef, Replica: r.Name, Channel: r.Channel}
}

// DefaultThreshold and DefaultDrainTimeout hold where a resource sets none.
const (
	DefaultThreshold    = 5 * time.Minute
	DefaultDrainTimeout = 10 * time.Minute
)

// Entry of a ReplicationGroup's status, one a replica.
type ReplicaStatus struct {
	Name       string     `json:"name"`
	Channel    string     `json:"channel,omitempty"`
	IOErrno    int        `json:"ioErrno"`
	Since      *time.Time `json:"since,omitempty"` // of the error
	Phase      string     `json:"phase"`
	Reason     Reason     `json:"reason"`
	Message    string     `json:"message,omitempty"`
	LastRepair *time.Time `json:"lastRepair,omitempty"`
	WorkflowID string     `json:"workflowID,omitempty"`
}

// ConditionHealthy of a ReplicationGroup is True while every replica needs nothing.
const ConditionHealthy = "Healthy"

// ReasonNotSeen is its reason while a replica has not been looked at yet.
const ReasonNotSeen Reason = "NotSeenYet"

// Phases of a replica, in a ReplicationGroup's status and in a repair's progress.
const (
	PhaseHealthy   = "Healthy"
	PhaseStuck     = "Stuck"     // on 1045, nothing is being done
	PhaseThreshold = "Waiting"   // on 1045, for the threshold
	PhasePaused    = "Paused"    // on 1045, for a cause to go
	PhaseProving   = "Proving"   // the Secret, on the primary
	PhaseDraining  = "Draining"  // the SQL thread is at work on what was fetched
	PhaseRepairing = "Repairing" // STOP, CHANGE, START, and the proof
	PhaseRepaired  = "Repaired"
	PhaseHandsOff  = "HandsOff" // another trouble than 1045
	PhaseUnknown   = "Unknown"
)
