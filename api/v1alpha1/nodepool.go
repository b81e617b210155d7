// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// NodePool is a set of like machines: one cluster, one role, one place. Each
// pool has a life of its own: what happens to it changes nothing on another
// pool or on the control plane.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:shortName=np,categories=minos
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.clusterName`,description="Cluster that the machines join"
// +kubebuilder:printcolumn:name="Role",type=string,JSONPath=`.spec.role`,description="What the machines are for"
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.status.desiredReplicas`,description="Machines wanted"
// +kubebuilder:printcolumn:name="Current",type=integer,JSONPath=`.status.replicas`,description="Machines that exist"
// +kubebuilder:printcolumn:name="Nodes",type=integer,JSONPath=`.status.readyReplicas`,description="Machines that are Ready Nodes"
// +kubebuilder:printcolumn:name="Up-to-date",type=integer,JSONPath=`.status.upToDateReplicas`,description="Machines of the newest revision"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the pool is as wanted"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Location",type=string,priority=1,JSONPath=`.spec.locationRef.name`,description="Place where the machines are made"
// +kubebuilder:printcolumn:name="Version",type=string,priority=1,JSONPath=`.status.talosVersion`,description="Talos version of the newest revision"
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is, or is not, ready"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 40",message="metadata.name is too long: a pool name may have at most 40 characters, because names of machines are made from it"
// +kubebuilder:validation:XValidation:rule="!self.metadata.name.contains('.')",message="metadata.name may not contain a dot: it becomes part of host names"
type NodePool struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the pool should be.
	// +required
	Spec NodePoolSpec `json:"spec,omitzero"`

	// status is what Minos last saw of it.
	// +optional
	Status NodePoolStatus `json:"status,omitzero"`
}

// NodePoolList is a list of pools.
//
// +kubebuilder:object:root=true
type NodePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodePool `json:"items"`
}

// NodePoolSpec is what a pool should be.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.replicas) && has(self.autoscaling))",message="replicas and autoscaling cannot both be set: remove replicas to let the autoscaler decide, or autoscaling to decide yourself"
// +kubebuilder:validation:XValidation:rule="has(self.machine.metal) || has(self.replicas) || has(self.autoscaling)",message="one of replicas and autoscaling must be set, to say how many machines there should be"
// +kubebuilder:validation:XValidation:rule="!has(self.machine.metal) || (!has(self.replicas) && !has(self.autoscaling))",message="a metal pool has as many machines as machine.metal.hosts lists: remove replicas and autoscaling, and add or remove hosts"
type NodePoolSpec struct {
	// clusterName is the TalosCluster, in the same namespace, that the machines
	// join. It may be created later than the pool: the pool then waits for it. It
	// cannot change.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change, because machines cannot move between clusters: make a new pool for the other cluster and delete this one"
	ClusterName Name `json:"clusterName,omitempty"`

	// role is the NodeRole of the machines: what they are for, and so which image
	// they run. Built in are control-plane, plain, compute, gateway, storage,
	// gpu-nvidia, gpu-amd and gpu-intel. Changing it replaces every machine, and
	// reinstalls metal.
	// +required
	Role Name `json:"role,omitempty"`

	// locationRef is the place where the machines are made. It cannot change.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change, because machines cannot move between places: make a new pool in the other place and delete this one"
	LocationRef LocationReference `json:"locationRef,omitzero"`

	// architecture is the processor architecture of the machines. It cannot
	// change.
	// +optional
	// +default="amd64"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change: make a new pool of the other architecture and delete this one"
	Architecture Architecture `json:"architecture,omitempty"`

	// replicas is how many machines there should be. Set it or autoscaling, not
	// both; a metal pool has neither. Changing it makes or removes machines and
	// rolls none.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=5000
	Replicas *int32 `json:"replicas,omitempty"`

	// autoscaling lets the cluster autoscaler decide how many machines there are,
	// within bounds. Changing it rolls none.
	// +optional
	Autoscaling *Autoscaling `json:"autoscaling,omitempty"`

	// machine is what a machine is made of, by the kind of place: exactly one
	// member is set, the one that the location has. What changing it does stands
	// at each field; its kind cannot change.
	// +required
	Machine Machine `json:"machine,omitzero"`

	// config is the pool's own layer of machine configuration, above those of
	// cluster, location and role.
	// +optional
	Config *PoolConfig `json:"config,omitempty"`

	// health is when a machine counts as failed and what is done about it.
	// Changing it rolls nothing.
	// +optional
	Health *Health `json:"health,omitempty"`

	// rollout is how changes reach the machines. Without it: the cluster's.
	// Changing it rolls nothing.
	// +optional
	Rollout *Rollout `json:"rollout,omitempty"`
}

// Autoscaling is the bounds of an autoscaled pool.
//
// +kubebuilder:validation:XValidation:rule="self.min <= self.max",message="min is more than max: lower min or raise max"
type Autoscaling struct {
	// min is the least number of machines. Zero lets the pool vanish while nobody
	// needs it.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=5000
	Min *int32 `json:"min,omitempty"`

	// max is the greatest number of machines.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=5000
	Max *int32 `json:"max,omitempty"`

	// provisionTimeoutSeconds is how long a new machine may take to join before
	// the autoscaler tries elsewhere. Without it: 1800.
	// +optional
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=86400
	ProvisionTimeoutSeconds *int32 `json:"provisionTimeoutSeconds,omitempty"`
}

// Health is when a machine counts as failed and what is done about it.
type Health struct {
	// maxUnhealthy is how many machines, as a number or a share such as 40%, may
	// be unhealthy before Minos stops replacing them: many failures at once mean
	// that something else is wrong. Without it: 40%.
	// +optional
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^([0-9]{1,4}|[0-9]{1,2}%|100%)$')",message="must be a number such as 1, or a share from 0% to 100%"
	MaxUnhealthy *intstr.IntOrString `json:"maxUnhealthy,omitempty"`

	// startupTimeoutSeconds is how long a new machine may take to become a Ready
	// Node. Without it: 1200.
	// +optional
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=86400
	StartupTimeoutSeconds *int32 `json:"startupTimeoutSeconds,omitempty"`

	// notReadyTimeoutSeconds is how long a Node may say that it is not ready.
	// Without it: 600.
	// +optional
	// +kubebuilder:validation:Minimum=30
	// +kubebuilder:validation:Maximum=86400
	NotReadyTimeoutSeconds *int32 `json:"notReadyTimeoutSeconds,omitempty"`

	// unknownTimeoutSeconds is how long a Node may be silent. Without it: 300.
	// +optional
	// +kubebuilder:validation:Minimum=30
	// +kubebuilder:validation:Maximum=86400
	UnknownTimeoutSeconds *int32 `json:"unknownTimeoutSeconds,omitempty"`

	// failed is what happens to a failed machine. Replace removes it and makes
	// another; Keep leaves it for study and makes another beside it when the place
	// has room. Without it: Replace, and Keep for metal, which cannot be made
	// anew.
	// +optional
	Failed FailedMachines `json:"failed,omitempty"`
}

// FailedMachines is what happens to a machine that failed.
//
// +kubebuilder:validation:Enum=Replace;Keep
type FailedMachines string

// The two answers.
const (
	FailedReplace FailedMachines = "Replace"
	FailedKeep    FailedMachines = "Keep"
)

// NodePoolStatus is what Minos last saw of a pool.
type NodePoolStatus struct {
	// conditions say how far the pool is, and what it waits for.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that the status speaks of.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// selector finds the pool's machines, for the scale subresource.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Selector string `json:"selector,omitempty"`

	// desiredReplicas is how many machines are wanted: what replicas says, what
	// the autoscaler asks for, or the hosts.
	// +optional
	// +kubebuilder:validation:Minimum=0
	DesiredReplicas *int32 `json:"desiredReplicas,omitempty"`

	// replicas is how many machines exist.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas *int32 `json:"replicas,omitempty"`

	// readyReplicas is how many of them are Ready Nodes.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// upToDateReplicas is how many of them have the newest revision.
	// +optional
	// +kubebuilder:validation:Minimum=0
	UpToDateReplicas *int32 `json:"upToDateReplicas,omitempty"`

	// revision names the newest machine configuration, by its content.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Revision string `json:"revision,omitempty"`

	// talosVersion is the Talos version of the newest revision.
	// +optional
	TalosVersion TalosVersion `json:"talosVersion,omitempty"`

	// kubernetesVersion is the kubelet version of the newest revision.
	// +optional
	KubernetesVersion KubernetesVersion `json:"kubernetesVersion,omitempty"`

	// schematic is the identity of the image: what the Image Factory computes from
	// the role's extensions.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Schematic string `json:"schematic,omitempty"`

	// capacity is what one machine offers, so that the autoscaler can make the
	// first one of an empty pool.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	Capacity map[string]resource.Quantity `json:"capacity,omitempty"`
}
