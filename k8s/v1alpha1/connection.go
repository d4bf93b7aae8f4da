package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SecretReference names a Secret.
//
// +structType=atomic
type SecretReference struct {
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Namespace of the Secret; by default the namespace of the object that names it.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
}

// Connection is one database server, and how seedmend logs in there as admin.
type Connection struct {
	// Name of the connection, unique within its provider.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Hostname or IP address. Only hosts named here are ever contacted.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=254
	Hostname string `json:"hostname"`

	// Port; by default that of the database's type (3306 or 5432).
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// Username of the admin user.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	Username string `json:"username"`

	// PasswordSecretRef names the Secret with the admin user's password, under the key "password".
	//
	// +required
	PasswordSecretRef SecretReference `json:"passwordSecretRef"`

	// Enabled: a connection that is not gets no new databases.
	//
	// +optional
	// +kubebuilder:default=true
	Enabled *bool `json:"enabled,omitempty"`

	// ReplicaHostnames are read replicas, told to the tenant as they are.
	//
	// +optional
	// +kubebuilder:validation:MaxItems=64
	ReplicaHostnames []string `json:"replicaHostnames,omitempty"`
}

// ProviderStatus is what seedmend says of a provider.
type ProviderStatus struct {
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// ConnectionStatus says how each connection was found.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	ConnectionStatus []ConnectionStatus `json:"connectionStatus,omitempty"`

	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// States of a connection.
const (
	ConnectionAvailable   = "available"
	ConnectionUnavailable = "unavailable"
)

// ConnectionStatus says how a connection was found.
type ConnectionStatus struct {
	// +required
	Name string `json:"name"`
	// +required
	Hostname string `json:"hostname"`
	// +required
	DatabaseVersion string `json:"databaseVersion"`
	// +required
	Enabled bool `json:"enabled"`
	// +required
	// +kubebuilder:validation:Enum=available;unavailable
	Status string `json:"status"`
}
