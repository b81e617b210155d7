// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TalosMachine is one machine that Minos itself looks after: in every place
// but those that Cluster API serves. Minos makes and removes these objects;
// people read them. Its conditions are the steps by which a machine joins, in
// order.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=tm,categories=minos
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.clusterName`,description="Cluster that the machine joins"
// +kubebuilder:printcolumn:name="Pool",type=string,JSONPath=`.spec.poolName`,description="Pool that the machine belongs to"
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.status.nodeName`,description="Node that the machine became"
// +kubebuilder:printcolumn:name="ProviderID",type=string,priority=1,JSONPath=`.status.providerID`,description="Instance in its place"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the machine does its work"
// +kubebuilder:printcolumn:name="Step",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="What the machine waits for, or that it is ready"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.talosVersion`,description="Talos version that the machine runs"
// +kubebuilder:printcolumn:name="Revision",type=string,priority=1,JSONPath=`.spec.revision`,description="Machine configuration that it should have"
type TalosMachine struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the machine should be.
	// +required
	Spec TalosMachineSpec `json:"spec,omitzero"`

	// status is what Minos last saw of it.
	// +optional
	Status TalosMachineStatus `json:"status,omitzero"`
}

// TalosMachineList is a list of machines.
//
// +kubebuilder:object:root=true
type TalosMachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TalosMachine `json:"items"`
}

// TalosMachineSpec is what a machine should be.
//
// +kubebuilder:validation:XValidation:rule="has(self.hostName) == has(oldSelf.hostName)",message="hostName cannot be added or removed: make a new machine"
type TalosMachineSpec struct {
	// clusterName is the TalosCluster that the machine joins. It cannot change.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change: make a new machine"
	ClusterName Name `json:"clusterName,omitempty"`

	// poolName is the NodePool that the machine belongs to. It cannot change.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change: make a new machine"
	PoolName Name `json:"poolName,omitempty"`

	// locationRef is the place where the machine is. It cannot change.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change: make a new machine"
	LocationRef LocationReference `json:"locationRef,omitzero"`

	// hostName is the host of a metal pool that this machine is. It cannot change.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change: make a new machine"
	HostName Name `json:"hostName,omitempty"`

	// revision names the machine configuration that the machine should have: the
	// Secret that holds it.
	// +required
	Revision Name `json:"revision,omitempty"`
}

// TalosMachineStatus is what Minos last saw of a machine.
type TalosMachineStatus struct {
	// conditions are the steps by which the machine joins, in order, each with the
	// time when it was reached.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that the status speaks of.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// providerID is the instance in its place, as the Node's spec.providerID has
	// it.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	ProviderID string `json:"providerID,omitempty"`

	// addresses are the machine's IP addresses, as the place reports them.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	Addresses []Address `json:"addresses,omitempty"`

	// nodeName is the Node that the machine became.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	NodeName string `json:"nodeName,omitempty"`

	// revision names the machine configuration that the machine runs with.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Revision string `json:"revision,omitempty"`

	// talosVersion is the Talos version that the machine runs, as it says itself.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	TalosVersion string `json:"talosVersion,omitempty"`

	// schematic is the identity of the image that the machine runs, as it says
	// itself.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Schematic string `json:"schematic,omitempty"`

	// bootID changes with every boot, and so tells a reboot from a pause.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	BootID string `json:"bootID,omitempty"`
}
