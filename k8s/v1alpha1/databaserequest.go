package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DatabaseRequest asks for one database: for a Secret and a Service that lead to it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Provider",type=string,JSONPath=`.status.observedDatabaseConnectionReference.databaseObjectReference.name`
// +kubebuilder:printcolumn:name="Database",type=string,JSONPath=`.status.databaseInfo.databasename`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
type DatabaseRequest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec DatabaseRequestSpec `json:"spec"`
	// +optional
	Status DatabaseRequestStatus `json:"status,omitempty"`
}

// DatabaseRequestSpec is what is asked for. seedmend never edits it.
//
// +kubebuilder:validation:XValidation:rule="has(self.selector) != has(self.scope)",message="exactly one of selector and scope must be set"
type DatabaseRequestSpec struct {
	// Name of the Service, and in capitals the prefix of the Secret's keys.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// Selector chooses the providers: those with the same selector or scope.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Selector string `json:"selector,omitempty"`

	// Scope is the older spelling of selector.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Scope string `json:"scope,omitempty"`

	// Type of the database. mariadb is served by providers of type mysql;
	// mongodb is accepted here and refused by seedmend (UnsupportedType).
	//
	// +required
	// +kubebuilder:validation:Enum=mysql;mariadb;postgres;mongodb
	Type string `json:"type"`

	// Seed names the Secret (database, username, password, hostname, port) of a
	// database that exists, or that is to be created just so. It has to be in the
	// request's own namespace, and is deleted once the request is Ready.
	//
	// +optional
	Seed *SecretReference `json:"seed,omitempty"`

	// AdditionalUsers are further users of the same database.
	//
	// +optional
	// +kubebuilder:validation:MaxItems=64
	AdditionalUsers []AdditionalUser `json:"additionalUsers,omitempty"`

	// DatabaseConnectionReference asks for one connection of one provider.
	//
	// +optional
	DatabaseConnectionReference *DatabaseConnectionReference `json:"databaseConnectionReference,omitempty"`

	// DropDatabaseOnDelete: whether the database is dropped after the request is
	// deleted. A pointer, since with a plain bool a whole-object write loses
	// false, and the API server then fills in true.
	//
	// +optional
	// +kubebuilder:default=true
	DropDatabaseOnDelete *bool `json:"dropDatabaseOnDelete,omitempty"`

	// ForcedReconcilation: a new time here retries a request that has failed.
	//
	// +optional
	ForcedReconcilation *metav1.Time `json:"forcedReconcilation,omitempty"`
}

// AdditionalUser is a further user of the database.
type AdditionalUser struct {
	// Name of the Service and prefix of the keys for this user.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// Type says what the user may do.
	//
	// +optional
	// +kubebuilder:validation:Enum=read-only;read-write
	// +kubebuilder:default=read-only
	Type string `json:"type,omitempty"`
}

// DatabaseConnectionReference names one connection of one provider.
type DatabaseConnectionReference struct {
	// DatabaseObjectReference is the provider, by kind and name.
	//
	// +required
	DatabaseObjectReference corev1.ObjectReference `json:"databaseObjectReference"`

	// Name of the connection within the provider.
	//
	// +required
	Name string `json:"name"`
}

// DatabaseRequestStatus is what seedmend says of the request.
type DatabaseRequestStatus struct {
	// Conditions: Ready, and Error (True only after a failure that is not
	// tried again by itself).
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// ObservedGeneration is the generation of the spec that the status is about.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// ObservedDatabaseConnectionReference is the connection in use.
	//
	// +optional
	ObservedDatabaseConnectionReference *DatabaseConnectionReference `json:"observedDatabaseConnectionReference,omitempty"`

	// DatabaseInfo names the database and its user.
	//
	// +optional
	DatabaseInfo *DatabaseInfo `json:"databaseInfo,omitempty"`
}

// DatabaseInfo names a database and its user.
type DatabaseInfo struct {
	// +required
	Username string `json:"username"`
	// +required
	Databasename string `json:"databasename"`
}

// DatabaseRequestList is a list of DatabaseRequests.
//
// +kubebuilder:object:root=true
type DatabaseRequestList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []DatabaseRequest `json:"items"`
}
