package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DatabaseMySQLProvider is the first design's provider: servers of type mysql.
// It is read only from the namespaces that seedmend was told to trust, since a
// tenant must not be able to name servers.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced
// +kubebuilder:printcolumn:name="Scope",type=string,JSONPath=`.spec.scope`
// +kubebuilder:printcolumn:name="Selector",type=string,JSONPath=`.spec.selector`
// +kubebuilder:printcolumn:name="Hosts",type=string,JSONPath=`.spec.connections[*].hostname`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type DatabaseMySQLProvider struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec DatabaseMySQLProviderSpec `json:"spec"`
	// +optional
	Status ProviderStatus `json:"status,omitempty"`
}

// DatabaseMySQLProviderSpec names the servers.
//
// +kubebuilder:validation:XValidation:rule="has(self.selector) != has(self.scope)",message="exactly one of selector and scope must be set"
type DatabaseMySQLProviderSpec struct {
	// Scope that requests choose this provider by.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Scope string `json:"scope,omitempty"`

	// Selector is today's spelling of scope.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Selector string `json:"selector,omitempty"`

	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	Connections []Connection `json:"connections"`
}

// DatabaseMySQLProviderList is a list of DatabaseMySQLProviders.
//
// +kubebuilder:object:root=true
type DatabaseMySQLProviderList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []DatabaseMySQLProvider `json:"items"`
}
