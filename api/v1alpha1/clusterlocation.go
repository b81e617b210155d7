// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterLocation is a place that the platform offers. It says who may use it,
// with which sizes and how many machines. Its credentials are the platform's
// and never shown to a tenant.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=cloc,categories=minos
// +kubebuilder:printcolumn:name="Place",type=string,JSONPath=`.status.place`,description="Kind of place"
// +kubebuilder:printcolumn:name="Machines",type=integer,JSONPath=`.status.machines`,description="Machines in this place"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether machines can be made here"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is, or is not, ready"
type ClusterLocation struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the place is: exactly one member is set, and which one cannot
	// change.
	// +required
	Spec LocationSpec `json:"spec,omitzero"`

	// status is what Minos last saw of it.
	// +optional
	Status LocationStatus `json:"status,omitzero"`
}

// ClusterLocationList is a list of places.
//
// +kubebuilder:object:root=true
type ClusterLocationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterLocation `json:"items"`
}
