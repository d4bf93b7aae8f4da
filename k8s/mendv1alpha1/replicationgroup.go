package mendv1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ReplicationGroup is a primary with its replicas, MariaDB or MySQL, that no
// operator runs. seedmend watches the replicas, and mends those whose
// replication password has diverged from the Secret, where that is asked for.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=rg,categories=seedmend
// +kubebuilder:printcolumn:name="Primary",type=string,JSONPath=`.spec.primary.host`
// +kubebuilder:printcolumn:name="Healthy",type=string,JSONPath=`.status.conditions[?(@.type=="Healthy")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Healthy")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Repairs",type=boolean,priority=1,JSONPath=`.spec.recovery.reconnectOnAuthError`
// +kubebuilder:printcolumn:name="Threshold",type=string,priority=1,JSONPath=`.spec.recovery.errorDurationThreshold`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Healthy")].message`
type ReplicationGroup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec ReplicationGroupSpec `json:"spec"`
	// +optional
	Status ReplicationGroupStatus `json:"status,omitempty"`
}

// ReplicationGroupSpec names the servers and what they are logged in to with.
// All Secrets are of the group's own namespace.
type ReplicationGroupSpec struct {
	// Primary that the replicas follow.
	//
	// +required
	Primary Endpoint `json:"primary"`

	// Replicas, each channel of each.
	//
	// +required
	// +listType=map
	// +listMapKey=name
	// +listMapKey=channel
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	Replicas []Replica `json:"replicas"`

	// AdminSecretRef names the Secret (keys username and password) that seedmend
	// logs in with, to the primary and to every replica.
	//
	// +required
	AdminSecretRef SecretReference `json:"adminSecretRef"`

	// ReplicationSecretRef names the Secret (keys username and password) that the
	// replicas log in to the primary with.
	//
	// +required
	ReplicationSecretRef SecretReference `json:"replicationSecretRef"`

	// TLS of seedmend's own connections to the servers.
	//
	// +optional
	TLS *TLS `json:"tls,omitempty"`

	// Recovery says what may be done, and when.
	//
	// +optional
	// +kubebuilder:default={}
	Recovery Recovery `json:"recovery,omitempty"`
}

// Endpoint is where a server listens.
type Endpoint struct {
	// Host is a name or an IP address. Write the primary's as the replicas have
	// it (Master_Host).
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=254
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9._:\\\\[\\\\]-]+$')",message="must be a host name or an IP address, without a scheme, a path or spaces"
	Host string `json:"host"`

	// +optional
	// +kubebuilder:default=3306
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`
}

// Replica is one channel of one replica.
type Replica struct {
	// Name of the replica, as it stands in the status and in workflow IDs.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$')",message="may hold letters, digits, '-', '_' and '.', with a letter or digit at both ends"
	Name string `json:"name"`

	Endpoint `json:",inline"`

	// Channel is MariaDB's connection name or MySQL's channel; empty is the default one.
	//
	// +optional
	// +kubebuilder:default=""
	// +kubebuilder:validation:MaxLength=64
	Channel string `json:"channel"`
}

// SecretReference names a Secret of the group's own namespace.
type SecretReference struct {
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// TLS of the connections to the servers.
type TLS struct {
	// Mode: disabled; preferred takes what the server offers; required encrypts;
	// verify also checks the server's certificate. By default seedmend's own setting.
	//
	// +optional
	// +kubebuilder:validation:Enum=disabled;preferred;required;verify
	Mode string `json:"mode,omitempty"`

	// CASecretRef names the Secret with the certificates that verify trusts; by
	// default those of the system.
	//
	// +optional
	CASecretRef *CAReference `json:"caSecretRef,omitempty"`
}

// CAReference names a Secret with certificates.
type CAReference struct {
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// +optional
	// +kubebuilder:default="ca.crt"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key,omitempty"`
}

// Recovery says what may be done, and when.
type Recovery struct {
	// ReconnectOnAuthError asks for repairs: a replica that the primary refuses
	// (error 1045) is given the Secret's user and password.
	//
	// +optional
	// +kubebuilder:default=false
	ReconnectOnAuthError bool `json:"reconnectOnAuthError,omitempty"`

	// ErrorDurationThreshold is how long the error has to last before the replica
	// is mended, such as 5m (the default).
	//
	// +optional
	// +kubebuilder:default="5m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self.matches('^(0|([0-9]{1,6}([.][0-9]{1,6})?(ns|us|ms|s|m|h))+)$')",message="must be a duration such as 5m, 1h30m or 0s, and not negative"
	ErrorDurationThreshold *metav1.Duration `json:"errorDurationThreshold,omitempty"`

	// DrainTimeout is how long the replica is given to apply what it has fetched.
	//
	// +optional
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self.matches('^(0|([0-9]{1,6}([.][0-9]{1,6})?(ns|us|ms|s|m|h))+)$')",message="must be a duration such as 5m, 1h30m or 0s, and not negative"
	DrainTimeout *metav1.Duration `json:"drainTimeout,omitempty"`
}

// ReplicationGroupList is a list of ReplicationGroups.
//
// +kubebuilder:object:root=true
type ReplicationGroupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ReplicationGroup `json:"items"`
}
