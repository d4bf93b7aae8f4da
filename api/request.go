package api

import "time"

// SecretRef names a Secret. It is all that a history ever sees of a credential.
type SecretRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// ConnectionRef names one connection of a provider.
type ConnectionRef struct {
	Provider   string `json:"provider"`
	Connection string `json:"connection"`
}

// Request is a DatabaseRequest as it was at one generation.
type Request struct {
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	UID         string `json:"uid"`
	Generation  int64  `json:"generation"`
	ServiceName string `json:"serviceName"`
	// Selector is spec.selector or spec.scope, whichever is set. Invalid
	// requests (both, none, a bad name) carry what is wrong in Invalid.
	Selector string         `json:"selector"`
	Type     string         `json:"type"`
	Seed     *SecretRef     `json:"seed,omitempty"`
	Observed *ConnectionRef `json:"observed,omitempty"`
	Invalid  string         `json:"invalid,omitempty"`
	// Conditions are those found on the object, so that a rewrite keeps the
	// time of the last transition.
	Conditions []Condition `json:"conditions,omitempty"`
}

// Key is namespace/name.
func (r Request) Key() string { return r.Namespace + "/" + r.Name }

// Newer tells whether r should replace old as the thing to work on.
func (r Request) Newer(old Request) bool {
	return r.UID != old.UID || r.Generation > old.Generation
}

// Connection is one server that a provider names. No credential is in it.
type Connection struct {
	ConnectionRef
	// ProviderKind is the kind that named it, for messages.
	ProviderKind   string    `json:"providerKind,omitempty"`
	Host           string    `json:"host"`
	Port           int       `json:"port"`
	AdminUser      string    `json:"adminUser"`
	PasswordSecret SecretRef `json:"passwordSecret"`
	ReplicaHosts   []string  `json:"replicaHosts,omitempty"`
}

// Owner is who a claim belongs to.
type Owner struct {
	UID       string `json:"uid"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Cluster   string `json:"cluster"`
}

// Same tells whether both are one object, or one object re-created under its name.
func (o Owner) Same(other Owner) bool {
	return o.Cluster == other.Cluster && o.Namespace == other.Namespace && o.Name == other.Name
}

// Condition types.
const (
	ConditionReady = "Ready"
	ConditionError = "Error"
)

// Condition is a metav1.Condition without its dependency.
type Condition struct {
	Type               string    `json:"type"`
	Status             string    `json:"status"` // True, False or Unknown
	Reason             string    `json:"reason"`
	Message            string    `json:"message,omitempty"`
	LastTransitionTime time.Time `json:"lastTransitionTime,omitzero"`
	ObservedGeneration int64     `json:"observedGeneration,omitempty"`
}

// Status is what seedmend says of a request.
type Status struct {
	Conditions         []Condition    `json:"conditions"`
	ObservedGeneration int64          `json:"observedGeneration"`
	Connection         *ConnectionRef `json:"connection,omitempty"`
	Username           string         `json:"username,omitempty"`
	Database           string         `json:"database,omitempty"`
}
