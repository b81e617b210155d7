// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Location is a place of the tenant's own where machines are made. Its
// credentials are Secrets of its own namespace, and only pools of that
// namespace can use it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=loc,categories=minos
// +kubebuilder:printcolumn:name="Place",type=string,JSONPath=`.status.place`,description="Kind of place"
// +kubebuilder:printcolumn:name="Machines",type=integer,JSONPath=`.status.machines`,description="Machines in this place"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether machines can be made here"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is, or is not, ready"
// +kubebuilder:validation:XValidation:rule="!(has(self.spec.kubevirt) && has(self.spec.kubevirt.namespaces)) && !(has(self.spec.metal) && has(self.spec.metal.namespaces)) && !(has(self.spec.sim) && has(self.spec.sim.namespaces))",message="namespaces works on a ClusterLocation only: a Location serves its own namespace; remove it"
type Location struct {
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

// LocationList is a list of places.
//
// +kubebuilder:object:root=true
type LocationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Location `json:"items"`
}

// LocationSpec says what kind of place it is. Exactly one member is set, and
// it cannot change.
//
// +kubebuilder:validation:ExactlyOneOf=kubevirt;metal;sim
// +kubebuilder:validation:XValidation:rule="has(self.kubevirt) == has(oldSelf.kubevirt) && has(self.metal) == has(oldSelf.metal) && has(self.sim) == has(oldSelf.sim)",message="the kind of place cannot change: make another location"
type LocationSpec struct {
	// kubevirt is a Kubernetes cluster with KubeVirt: this management cluster.
	// +optional
	KubeVirt *KubeVirtLocation `json:"kubevirt,omitempty"`

	// metal is a room with machines in it.
	// +optional
	Metal *MetalLocation `json:"metal,omitempty"`

	// sim is a simulated place, to rehearse and to test.
	// +optional
	Sim *SimLocation `json:"sim,omitempty"`
}

// KubeVirtLocation is a place where KubeVirt makes virtual machines.
type KubeVirtLocation struct {
	Place `json:",inline"`

	// storageClassName is the storage class of system disks, for pools that name
	// none. Without it: the default class. Changing it rolls nothing: it applies
	// to new machines.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	StorageClassName string `json:"storageClassName,omitempty"`

	// image is where the system disk's content comes from. Without it: the Image
	// Factory. Changing it rolls nothing: it applies to new machines.
	// +optional
	Image *ImageSource `json:"image,omitempty"`
}

// MetalLocation is a place with machines that exist.
type MetalLocation struct {
	Place `json:",inline"`
}

// SimLocation is a simulated place.
type SimLocation struct {
	Place `json:",inline"`
}

// Place is what every kind of place can have.
type Place struct {
	// zone is the failure domain of the place. Its machines get it as the label
	// topology.kubernetes.io/zone. Changing it is applied live, without a reboot;
	// machines of a kubevirt pool are replaced.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$')",message="must be usable as the value of a label, for example eu-central-1a"
	Zone string `json:"zone,omitempty"`

	// network is the network settings that machines need in this place. Changing
	// them is applied live, without a reboot; machines of a kubevirt pool are
	// replaced.
	// +optional
	Network *PlaceNetwork `json:"network,omitempty"`

	// config is the place's layer of machine configuration: it applies to every
	// machine that is made here.
	// +optional
	Config *Layer `json:"config,omitempty"`

	// limits bound what may be made here. Changing them rolls and removes nothing:
	// they apply to new machines.
	// +optional
	Limits *PlaceLimits `json:"limits,omitempty"`

	// namespaces selects the namespaces whose pools may use the place, by their
	// labels; an empty selector selects all. Without it, no pool may. It works on
	// a ClusterLocation only. Changing it rolls and removes nothing: pools of a
	// namespace that is no longer selected cannot grow.
	// +optional
	Namespaces *NamespaceSelector `json:"namespaces,omitempty"`
}

// NamespaceSelector selects namespaces by their labels.
type NamespaceSelector struct {
	// matchLabels are the labels that a namespace must have, all of them. Without
	// it: every namespace is selected.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
}

// PlaceNetwork is the network settings of a place.
//
// +kubebuilder:validation:MinProperties=1
type PlaceNetwork struct {
	// nameservers are the name servers of machines. Without it: what the place
	// tells them.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	Nameservers []Address `json:"nameservers,omitempty"`

	// searchDomains are the domains in which machines look for short names.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=atomic
	SearchDomains []string `json:"searchDomains,omitempty"`

	// timeServers are the time servers of machines. Without it: Talos's default.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=atomic
	TimeServers []string `json:"timeServers,omitempty"`
}

// PlaceLimits bounds what may be made in a place.
//
// +kubebuilder:validation:MinProperties=1
type PlaceLimits struct {
	// machines is how many machines there may be in all.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	Machines *int32 `json:"machines,omitempty"`

	// machinesPerNamespace is how many machines the pools of one namespace may
	// have together.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	MachinesPerNamespace *int32 `json:"machinesPerNamespace,omitempty"`

	// instanceTypes are the instance types that pools may choose. Without it: any.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	InstanceTypes []string `json:"instanceTypes,omitempty"`
}

// ImageSource is where a system disk's content comes from. Exactly one member
// is set.
//
// +kubebuilder:validation:ExactlyOneOf=factory;url
type ImageSource struct {
	// factory is the Image Factory of the cluster: the image is computed from the
	// role's extensions.
	// +optional
	Factory *FactoryImage `json:"factory,omitempty"`

	// url is an image that was prepared beforehand. It must hold what the roles
	// that are used here need.
	// +optional
	URL URL `json:"url,omitempty"`
}

// FactoryImage is an image of the Image Factory.
type FactoryImage struct{}

// LocationStatus is what Minos last saw of a place.
type LocationStatus struct {
	// conditions say whether machines can be made here.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that the status speaks of.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// place is the kind of place: the member of the spec that is set.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Place string `json:"place,omitempty"`

	// machines is how many machines there are in this place.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Machines *int32 `json:"machines,omitempty"`
}
