package mendv1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ReplicationGroupStatus is what seedmend says of the group.
type ReplicationGroupStatus struct {
	// Conditions: Healthy, with the reason of the replica that is worst off.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// ObservedGeneration is the generation of the spec that the status is about.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Replicas, each channel of each.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +listMapKey=channel
	Replicas []ReplicaStatus `json:"replicas,omitempty"`
}

// ReplicaStatus is what seedmend says of one channel of one replica.
type ReplicaStatus struct {
	// +required
	Name string `json:"name"`

	// +optional
	// +kubebuilder:default=""
	Channel string `json:"channel"`

	// IOErrno is the IO thread's last error; 0 is none.
	//
	// +optional
	IOErrno int32 `json:"ioErrno"`

	// Since is when that error was first seen.
	//
	// +optional
	Since *metav1.Time `json:"since,omitempty"`

	// Phase, in one word.
	//
	// +optional
	Phase string `json:"phase,omitempty"`

	// Reason as in the runbook.
	//
	// +optional
	Reason string `json:"reason,omitempty"`

	// +optional
	Message string `json:"message,omitempty"`

	// LastRepair is when the credentials were last changed with success.
	//
	// +optional
	LastRepair *metav1.Time `json:"lastRepair,omitempty"`

	// WorkflowID of the repair.
	//
	// +optional
	WorkflowID string `json:"workflowID,omitempty"`
}
