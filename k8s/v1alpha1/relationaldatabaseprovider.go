package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RelationalDatabaseProvider names database servers that requests may use.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Selector",type=string,JSONPath=`.spec.selector`
// +kubebuilder:printcolumn:name="Scope",type=string,JSONPath=`.spec.scope`
// +kubebuilder:printcolumn:name="Hosts",type=string,JSONPath=`.spec.connections[*].hostname`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type RelationalDatabaseProvider struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec RelationalDatabaseProviderSpec `json:"spec"`
	// +optional
	Status ProviderStatus `json:"status,omitempty"`
}

// RelationalDatabaseProviderSpec names the servers.
//
// +kubebuilder:validation:XValidation:rule="has(self.selector) != has(self.scope)",message="exactly one of selector and scope must be set"
// +kubebuilder:validation:XValidation:rule="self.connections.all(c, has(c.passwordSecretRef.__namespace__))",message="passwordSecretRef needs a namespace, since the provider has none"
type RelationalDatabaseProviderSpec struct {
	// Type of the servers.
	//
	// +required
	// +kubebuilder:validation:Enum=mysql;postgres
	Type string `json:"type"`

	// Selector that requests choose this provider by.
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

	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	Connections []Connection `json:"connections"`
}

// RelationalDatabaseProviderList is a list of RelationalDatabaseProviders.
//
// +kubebuilder:object:root=true
type RelationalDatabaseProviderList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []RelationalDatabaseProvider `json:"items"`
}
