// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TalosCluster is one Kubernetes cluster whose machines run Talos Linux. It
// says what all of the cluster shares: versions, networks, the control plane,
// where images come from. It names no node pool: pools name their cluster, so
// that adding, changing or removing one never touches this object.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=tc,categories=minos
// +kubebuilder:printcolumn:name="Kubernetes",type=string,JSONPath=`.spec.kubernetesVersion`,description="Wanted Kubernetes version"
// +kubebuilder:printcolumn:name="Talos",type=string,JSONPath=`.spec.talosVersion`,description="Wanted Talos version"
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.status.endpoint.host`,description="Name or address of the API server"
// +kubebuilder:printcolumn:name="Pools",type=integer,JSONPath=`.status.pools`,description="Node pools that name this cluster"
// +kubebuilder:printcolumn:name="Nodes",type=integer,JSONPath=`.status.readyMachines`,description="Machines that are Ready, over all pools"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the control plane is ready"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is, or is not, ready"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 40",message="metadata.name is too long: a cluster name may have at most 40 characters, because names of machines are made from it"
// +kubebuilder:validation:XValidation:rule="!self.metadata.name.contains('.')",message="metadata.name may not contain a dot: it becomes part of host names"
type TalosCluster struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the cluster should be.
	// +required
	Spec TalosClusterSpec `json:"spec,omitzero"`

	// status is what Minos last saw of it.
	// +optional
	Status TalosClusterStatus `json:"status,omitzero"`
}

// TalosClusterList is a list of clusters.
//
// +kubebuilder:object:root=true
type TalosClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TalosCluster `json:"items"`
}

// TalosClusterSpec is what a cluster should be.
//
// +kubebuilder:validation:XValidation:rule="has(self.endpoint) || has(self.controlPlane.kamaji) || !(has(self.controlPlane.external) || has(self.controlPlane.talos))",fieldPath=".endpoint",reason=FieldValueRequired,message="must be set for this kind of control plane: give the host by which machines reach the API server"
// +kubebuilder:validation:XValidation:rule="has(self.network) == has(oldSelf.network)",message="network is chosen when the cluster is made and cannot be added or removed later: make a new cluster with the networks that you want"
type TalosClusterSpec struct {
	// kubernetesVersion is the version of the control plane and of every kubelet,
	// for example v1.36.3. The Talos version must support it. Changing it upgrades
	// a control plane that Minos runs first and then rolls the machines; it goes
	// up one minor version at a time and never down.
	// +required
	// +kubebuilder:validation:XValidation:rule="!self.matches('^v1[.][0-9]{1,3}[.]') || !oldSelf.matches('^v1[.][0-9]{1,3}[.]') || int(self.split('.')[1]) >= int(oldSelf.split('.')[1])",message="cannot go down to an older minor version: Kubernetes does not support it; keep the version, or make a new cluster"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^v1[.][0-9]{1,3}[.]') || !oldSelf.matches('^v1[.][0-9]{1,3}[.]') || int(self.split('.')[1]) <= int(oldSelf.split('.')[1]) + 1",message="cannot skip a minor version: upgrade to the next minor first"
	KubernetesVersion KubernetesVersion `json:"kubernetesVersion,omitempty"`

	// talosVersion is the Talos Linux version of every machine, for example
	// v1.13.9. Changing it rolls the machines: metal is upgraded in place with a
	// reboot, machines in other places are replaced.
	// +required
	TalosVersion TalosVersion `json:"talosVersion,omitempty"`

	// network is the cluster's own networks. They are chosen when the cluster is
	// made and cannot change. They must not overlap those of the management
	// cluster. Without it: pods 10.244.0.0/16, services 10.96.0.0/16,
	// cluster.local.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="networks are chosen when the cluster is made and cannot change: make a new cluster with the networks that you want"
	Network *ClusterNetwork `json:"network,omitempty"`

	// endpoint is where machines and people reach the API server. A hosted control
	// plane brings its own and needs none; every other kind must be told. Changing
	// it rolls every machine.
	// +optional
	Endpoint *Endpoint `json:"endpoint,omitempty"`

	// controlPlane is what runs the Kubernetes API: exactly one member is set. Its
	// kind cannot change.
	// +required
	ControlPlane ControlPlane `json:"controlPlane,omitzero"`

	// cni is the pod network. Without it: Flannel, as Talos brings it. Changing it
	// rolls nothing: a running pod network is not swapped by reinstalling
	// machines, and how to do it depends on the network.
	// +optional
	CNI *CNI `json:"cni,omitempty"`

	// images is where Talos images and container images come from. Without it: the
	// public ones.
	// +optional
	Images *Images `json:"images,omitempty"`

	// config is the cluster's layer of machine configuration: it applies to every
	// machine of every pool.
	// +optional
	Config *Layer `json:"config,omitempty"`

	// rollout is how changes reach machines, for pools that say nothing of their
	// own. Changing it rolls nothing.
	// +optional
	Rollout *Rollout `json:"rollout,omitempty"`

	// environment is what the cluster is for. Checks are stricter in production.
	// Changing it rolls nothing.
	// +optional
	// +default="Production"
	Environment Environment `json:"environment,omitempty"`

	// decisions are the choices behind the cluster, each with who made it and
	// when, for those who come after. Changing them rolls nothing.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10
	// +listType=map
	// +listMapKey=about
	Decisions []Decision `json:"decisions,omitempty"`
}

// Environment is what a cluster is for.
//
// +kubebuilder:validation:Enum=Production;Staging;Development;Homelab;Edge
type Environment string

// What a cluster can be for.
const (
	EnvironmentProduction  Environment = "Production"
	EnvironmentStaging     Environment = "Staging"
	EnvironmentDevelopment Environment = "Development"
	EnvironmentHomelab     Environment = "Homelab"
	EnvironmentEdge        Environment = "Edge"
)

// Decision is one choice behind a cluster. Changing it rolls nothing.
type Decision struct {
	// about is what was decided.
	// +required
	About DecisionAbout `json:"about,omitempty"`

	// answer is what was chosen.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Answer string `json:"answer,omitempty"`

	// reason is why, in a sentence.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	Reason string `json:"reason,omitempty"`

	// owner is who decided, and whom to ask.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Owner string `json:"owner,omitempty"`

	// date is when it was decided, for example 2026-11-15.
	// +required
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$')",message="must be a date such as 2026-11-15"
	Date string `json:"date,omitempty"`
}

// DecisionAbout is a line of the checklist that a cluster is decided by.
//
// +kubebuilder:validation:Enum=Platform;Topology;Configuration;CNI;Storage;Extensions;Secrets;Upgrades;Backup;Endpoint
type DecisionAbout string

// The lines of the checklist, in the order in which they are asked.
const (
	DecisionPlatform      DecisionAbout = "Platform"
	DecisionTopology      DecisionAbout = "Topology"
	DecisionConfiguration DecisionAbout = "Configuration"
	DecisionCNI           DecisionAbout = "CNI"
	DecisionStorage       DecisionAbout = "Storage"
	DecisionExtensions    DecisionAbout = "Extensions"
	DecisionSecrets       DecisionAbout = "Secrets"
	DecisionUpgrades      DecisionAbout = "Upgrades"
	DecisionBackup        DecisionAbout = "Backup"
	DecisionEndpoint      DecisionAbout = "Endpoint"
)

// ClusterNetwork is the networks inside a cluster.
//
// +kubebuilder:validation:XValidation:rule="!self.podCIDRs.all(p, isCIDR(p)) || !self.serviceCIDRs.all(s, isCIDR(s)) || !self.podCIDRs.exists(p, self.serviceCIDRs.exists(s, cidr(p).containsCIDR(s) || cidr(s).containsCIDR(p)))",message="podCIDRs and serviceCIDRs overlap: choose networks that share no address"
type ClusterNetwork struct {
	// podCIDRs are the networks of pods: one, or one of each address family.
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=2
	// +kubebuilder:validation:XValidation:rule="self.size() < 2 || !self.all(c, isCIDR(c)) || cidr(self[0]).ip().family() != cidr(self[1]).ip().family()",message="two networks must be one of IPv4 and one of IPv6"
	// +listType=atomic
	PodCIDRs []CIDR `json:"podCIDRs,omitempty"`

	// serviceCIDRs are the networks of services: one, or one of each address
	// family.
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=2
	// +kubebuilder:validation:XValidation:rule="self.size() < 2 || !self.all(c, isCIDR(c)) || cidr(self[0]).ip().family() != cidr(self[1]).ip().family()",message="two networks must be one of IPv4 and one of IPv6"
	// +listType=atomic
	ServiceCIDRs []CIDR `json:"serviceCIDRs,omitempty"`

	// dnsDomain is the domain of the cluster's services.
	// +optional
	// +default="cluster.local"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)*$')",message="must be a domain name such as cluster.local"
	DNSDomain string `json:"dnsDomain,omitempty"`
}

// Endpoint is where an API server is reached.
type Endpoint struct {
	// host is a host name or an IP address that every machine can reach, before
	// anything in the cluster runs.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="isIP(self) || self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)*$')",message="must be a host name or an IP address, without https:// and without a port"
	Host string `json:"host,omitempty"`

	// port is the port of the API server.
	// +optional
	// +default=6443
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`
}

// CNI is the choice of pod network.
//
// +kubebuilder:validation:XValidation:rule="self.provider != 'Flannel' || !has(self.manifests)",message="manifests cannot be given with Flannel, which Talos brings itself: remove them, or choose another provider"
type CNI struct {
	// provider is the pod network. Flannel is installed by Talos; of the others,
	// the manifests below are installed when given, and otherwise whoever looks
	// after the cluster's workloads installs it. None means that nothing is
	// expected.
	// +required
	Provider CNIProvider `json:"provider,omitempty"`

	// manifests are addresses of manifests that Talos applies when the control
	// plane first starts.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	Manifests []URL `json:"manifests,omitempty"`
}

// CNIProvider is a pod network.
//
// +kubebuilder:validation:Enum=Flannel;Cilium;Calico;None
type CNIProvider string

// The pod networks that Minos knows how to prepare machines for.
const (
	CNIFlannel CNIProvider = "Flannel"
	CNICilium  CNIProvider = "Cilium"
	CNICalico  CNIProvider = "Calico"
	CNINone    CNIProvider = "None"
)

// Images is where images come from.
type Images struct {
	// factory is the Image Factory that makes Talos images from a role's
	// extensions. Without it: the public one, https://factory.talos.dev. Changing
	// it rolls nothing by itself: the next image comes from there.
	// +optional
	Factory URL `json:"factory,omitempty"`

	// installer is the registry and path of installer images, without schematic
	// and version. Without it: that of the factory. Changing it rolls nothing by
	// itself: the next upgrade uses it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Installer string `json:"installer,omitempty"`

	// mirrors are registry mirrors for every machine. Changing them is applied
	// live, without a reboot; machines of kubevirt pools are replaced.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=registry
	Mirrors []RegistryMirror `json:"mirrors,omitempty"`

	// caBundle is certificates, in PEM, that machines and the image import trust
	// in addition, for a factory or a mirror with a private certificate authority.
	// Changing it is applied live, without a reboot; machines of kubevirt pools
	// are replaced.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=65536
	// +kubebuilder:validation:XValidation:rule="self.contains('-----BEGIN CERTIFICATE-----') && !self.contains('PRIVATE KEY')",message="must be certificates in PEM and no private key"
	CABundle string `json:"caBundle,omitempty"`

	// signer is the image of the signer that runs beside a hosted control plane.
	// Without it: the one that the operator was started with, and else another
	// tag or digest of the same repository: it runs in the management cluster.
	// Changing it restarts the control plane's pods and rolls no machine.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Signer string `json:"signer,omitempty"`
}

// TalosClusterStatus is what Minos last saw of a cluster.
type TalosClusterStatus struct {
	// conditions say how far the cluster is. Ready speaks of the control plane and
	// what machines need to join; the machines have conditions of their own on
	// their pools.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that the status speaks of.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// endpoint is where the API server is reached, as resolved.
	// +optional
	Endpoint *Endpoint `json:"endpoint,omitempty"`

	// network is the networks in use, with defaults filled in.
	// +optional
	Network *ClusterNetwork `json:"network,omitempty"`

	// kubernetesVersion is the version that the control plane runs.
	// +optional
	KubernetesVersion KubernetesVersion `json:"kubernetesVersion,omitempty"`

	// pools is how many node pools name this cluster.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Pools *int32 `json:"pools,omitempty"`

	// machines is how many machines those pools have.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Machines *int32 `json:"machines,omitempty"`

	// readyMachines is how many of them are Ready.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReadyMachines *int32 `json:"readyMachines,omitempty"`
}
