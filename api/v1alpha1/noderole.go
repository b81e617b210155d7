// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeRole is what a machine is for. It decides the image (system extensions
// and kernel arguments), what the extensions need in order to run, and how the
// Node presents itself. Minos ships control-plane, plain, compute, gateway,
// storage, gpu-nvidia, gpu-amd and gpu-intel; a role of the same name replaces
// a built-in one.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=nr,categories=minos
// +kubebuilder:printcolumn:name="Extends",type=string,JSONPath=`.spec.extends`,description="Role that this one builds on"
// +kubebuilder:printcolumn:name="Machines",type=string,JSONPath=`.spec.machineType`,description="Kind of machine"
// +kubebuilder:printcolumn:name="Per-cluster",type=string,JSONPath=`.spec.perCluster`,description="How many machines of the role a cluster may have"
// +kubebuilder:printcolumn:name="Extensions",type=string,JSONPath=`.spec.extensions`,description="System extensions that the role adds"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="!has(self.spec.extends) || self.spec.extends != self.metadata.name",fieldPath=".spec.extends",message="names the role itself: name another role, or remove it"
type NodeRole struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the role is.
	// +required
	Spec NodeRoleSpec `json:"spec,omitzero"`
}

// NodeRoleList is a list of roles.
//
// +kubebuilder:object:root=true
type NodeRoleList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeRole `json:"items"`
}

// NodeRoleSpec is what a role is. A change reaches the machines of every pool
// of the role.
//
// +kubebuilder:validation:MinProperties=1
type NodeRoleSpec struct {
	// description says in a sentence what the role is for. Changing it rolls
	// nothing.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Description string `json:"description,omitempty"`

	// extends is another role that this one builds on. Lists and maps are added to
	// those of the other role; a scalar that is set here wins. Changing it rolls
	// the machines as a change of what it brings would.
	// +optional
	Extends Name `json:"extends,omitempty"`

	// machineType is Worker, or ControlPlane for machines that run the cluster's
	// own control plane. Without it: that of the extended role, or Worker. It
	// cannot change.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change: make another role"
	MachineType MachineType `json:"machineType,omitempty"`

	// extensions are system extensions by name, for example drbd. Changing them
	// makes another image: machines are replaced, and metal is upgraded to that
	// image with a reboot.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.all(e, e.matches('^([a-z0-9][a-z0-9-]*/)?[a-z0-9][a-z0-9-]*$'))",message="must be names of system extensions, for example drbd or siderolabs/drbd"
	// +listType=set
	Extensions []string `json:"extensions,omitempty"`

	// kernelArgs are kernel command-line arguments, for example net.ifnames=0; a
	// leading "-" removes a default one. They are part of the image and public:
	// never put a secret here. Changing them makes another image, as for
	// extensions.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	// +listType=set
	KernelArgs []string `json:"kernelArgs,omitempty"`

	// kernelModules are kernel modules to load. An extension that brings a module
	// does not load it. Changing them rolls the machines: metal reboots, machines
	// in other places are replaced.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=name
	KernelModules []KernelModule `json:"kernelModules,omitempty"`

	// sysctls are kernel settings, for example vm.nr_hugepages: "1024". Changing
	// them is applied live, without a reboot; machines of a kubevirt pool are
	// replaced.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Sysctls map[string]string `json:"sysctls,omitempty"`

	// services configures extension services. A service that wants a configuration
	// and has none keeps the machine from ending its boot. Changing it is applied
	// live: Talos restarts the service, and the machine stays up; machines of a
	// kubevirt pool are replaced.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	Services []ExtensionService `json:"services,omitempty"`

	// config is the role's layer of machine configuration.
	// +optional
	Config *Layer `json:"config,omitempty"`

	// labels are put on the Nodes of the role. Changing them is applied live,
	// without a reboot, in every kind of pool.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Labels map[string]string `json:"labels,omitempty"`

	// taints are put on the Nodes of the role when they register. Changing them
	// rolls the machines: a Node's taints belong to the cluster once it is
	// registered.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=key
	Taints []Taint `json:"taints,omitempty"`

	// hardware is what a machine must have for the role. A machine without it
	// would not end its boot. Changing it rolls nothing: it says which machines
	// may have the role.
	// +optional
	Hardware *Hardware `json:"hardware,omitempty"`

	// perCluster is how many machines of the role one cluster may have: Any; One,
	// for a role that must not be doubled; or HA, for a role whose machines stand
	// in for each other, all with the same settings. Without it: that of the
	// extended role, or Any. Changing it rolls nothing.
	// +optional
	PerCluster PerCluster `json:"perCluster,omitempty"`
}

// MachineType is the part that a machine plays in its cluster.
//
// +kubebuilder:validation:Enum=Worker;ControlPlane
type MachineType string

// The parts that a machine can play.
const (
	MachineWorker       MachineType = "Worker"
	MachineControlPlane MachineType = "ControlPlane"
)

// PerCluster is how many machines of a role a cluster may have.
//
// +kubebuilder:validation:Enum=Any;One;HA
type PerCluster string

// The answers to how many machines of a role a cluster may have.
const (
	PerClusterAny PerCluster = "Any"
	PerClusterOne PerCluster = "One"
	PerClusterHA  PerCluster = "HA"
)

// KernelModule is one kernel module to load.
type KernelModule struct {
	// name is the name of the module, for example drbd.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name,omitempty"`

	// parameters are the module's parameters, for example
	// usermode_helper=disabled.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	// +listType=atomic
	Parameters []string `json:"parameters,omitempty"`
}

// ExtensionService is the configuration of one extension service.
//
// +kubebuilder:validation:XValidation:rule="has(self.environment) || has(self.files)",message="must have environment or files: Talos refuses an empty configuration"
type ExtensionService struct {
	// name is the name of the service without its prefix "ext-", for example
	// tailscale. It can differ from the name of the extension.
	// +required
	Name Name `json:"name,omitempty"`

	// environment is the environment variables of the service.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=name
	Environment []ServiceVariable `json:"environment,omitempty"`

	// files are files that the service finds in its container.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=path
	Files []ServiceFile `json:"files,omitempty"`
}

// ServiceVariable is one environment variable of a service.
type ServiceVariable struct {
	// name is the name of the variable, for example TS_ROUTES.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_][A-Za-z0-9_]*$')",message="must be the name of an environment variable, for example TS_ROUTES"
	Name string `json:"name,omitempty"`

	// from is where its value comes from: exactly one member is set.
	// +required
	From ValueSource `json:"from,omitzero"`
}

// ServiceFile is one file of a service.
type ServiceFile struct {
	// path is where the service finds the file.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.startsWith('/')",message="must be an absolute path"
	Path string `json:"path,omitempty"`

	// from is where its content comes from: exactly one member is set.
	// +required
	From ValueSource `json:"from,omitzero"`
}

// ValueSource is where a value comes from. Exactly one member is set.
//
// +kubebuilder:validation:ExactlyOneOf=value;secret;cluster
type ValueSource struct {
	// value is the value itself. Never put a secret here.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16384
	Value string `json:"value,omitempty"`

	// secret is a key of a Secret in the namespace of the pool.
	// +optional
	Secret *SecretKeyReference `json:"secret,omitempty"`

	// cluster is a fact of the cluster that the machine belongs to: Name, or
	// Networks for its pod and service networks with commas between them.
	// +optional
	Cluster ClusterFact `json:"cluster,omitempty"`
}

// ClusterFact is a fact of a cluster that a setting can use.
//
// +kubebuilder:validation:Enum=Name;Networks
type ClusterFact string

// The facts of a cluster that a setting can use.
const (
	ClusterFactName     ClusterFact = "Name"
	ClusterFactNetworks ClusterFact = "Networks"
)

// Hardware is what a machine must have.
//
// +kubebuilder:validation:MinProperties=1
type Hardware struct {
	// gpu is the maker of the graphics processor that the machine must have.
	// +optional
	GPU GPUVendor `json:"gpu,omitempty"`

	// architectures are the architectures on which the role works. Without it:
	// all.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=2
	// +listType=set
	Architectures []Architecture `json:"architectures,omitempty"`
}
