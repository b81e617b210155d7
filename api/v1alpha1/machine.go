// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "k8s.io/apimachinery/pkg/api/resource"

// Machine is what a machine is made of, by the kind of place. Exactly one
// member is set, the one that the pool's location has.
//
// +kubebuilder:validation:ExactlyOneOf=kubevirt;metal;sim
// +kubebuilder:validation:XValidation:rule="has(self.kubevirt) == has(oldSelf.kubevirt) && has(self.metal) == has(oldSelf.metal) && has(self.sim) == has(oldSelf.sim)",message="the kind of machine cannot change: make a new pool and delete this one"
type Machine struct {
	// kubevirt makes virtual machines with KubeVirt, through Cluster API.
	// +optional
	KubeVirt *KubeVirtMachine `json:"kubevirt,omitempty"`

	// metal takes machines that exist: servers, small computers, virtual machines
	// made by hand.
	// +optional
	Metal *MetalMachine `json:"metal,omitempty"`

	// sim makes simulated machines, to rehearse and to test. They speak the real
	// protocols and need no hardware.
	// +optional
	Sim *SimMachine `json:"sim,omitempty"`
}

// KubeVirtMachine is a virtual machine of KubeVirt.
//
// +kubebuilder:validation:XValidation:rule="!has(self.podCPU) || has(self.size.resources)",message="podCPU works with size.resources only, because KubeVirt refuses it beside an instance type: remove it, or give size.resources"
type KubeVirtMachine struct {
	// size is how large a machine is: by an instance type or by resources, not
	// both. Changing it replaces every machine.
	// +required
	Size KubeVirtSize `json:"size,omitzero"`

	// disk is the system disk. Changing it replaces every machine.
	// +optional
	Disk *KubeVirtDisk `json:"disk,omitempty"`

	// gpus are devices of the host that each machine gets. Changing them replaces
	// every machine.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	GPUs []KubeVirtGPU `json:"gpus,omitempty"`

	// podCPU bounds the processor of the pod that a machine runs in. Changing it
	// replaces every machine.
	// +optional
	PodCPU *PodCPU `json:"podCPU,omitempty"`

	// nodeSelector are labels of the hosts on which machines may run. Changing it
	// replaces every machine.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// spread keeps the pool's machines apart. Without it: on different hosts where
	// that is possible. Changing it replaces every machine.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	// +listType=atomic
	Spread []Spread `json:"spread,omitempty"`

	// serialConsole says whether the console of a machine is written to the log of
	// its pod, which is where a machine that does not join says why. Changing it
	// replaces every machine.
	// +optional
	// +default="Logged"
	SerialConsole SerialConsole `json:"serialConsole,omitempty"`

	// bootstrap is how the machine configuration reaches Cluster API.
	// TalosConfigTemplate is for pools that were made that way before Minos took
	// them over. Changing it replaces every machine.
	// +optional
	// +default="Secret"
	Bootstrap BootstrapKind `json:"bootstrap,omitempty"`
}

// KubeVirtSize is the size of a virtual machine. Exactly one member is set.
//
// +kubebuilder:validation:ExactlyOneOf=instanceType;resources
type KubeVirtSize struct {
	// instanceType is the name of a VirtualMachineClusterInstancetype, for example
	// u1.medium.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	InstanceType string `json:"instanceType,omitempty"`

	// resources is processor and memory of the machine. The processor is whole
	// cores.
	// +optional
	Resources *Resources `json:"resources,omitempty"`
}

// KubeVirtDisk is the system disk of a virtual machine.
type KubeVirtDisk struct {
	// size is the size of the disk. Without it: 20Gi.
	// +optional
	// +kubebuilder:validation:XValidation:rule="quantity(string(self)).compareTo(quantity('8Gi')) >= 0",message="must be at least 8Gi, or Talos cannot upgrade itself"
	Size *resource.Quantity `json:"size,omitempty"`

	// storageClassName is the storage class of the disk. Without it: that of the
	// location, or the cluster's default.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	StorageClassName string `json:"storageClassName,omitempty"`
}

// KubeVirtGPU is one device of the host.
type KubeVirtGPU struct {
	// deviceName is the resource name of the device as KubeVirt offers it, for
	// example nvidia.com/GA102GL_A10.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	DeviceName string `json:"deviceName,omitempty"`
}

// PodCPU bounds the processor of the pod that a virtual machine runs in.
//
// +kubebuilder:validation:XValidation:rule="!has(self.limit) || !has(self.request) || quantity(string(self.request)).compareTo(quantity(string(self.limit))) <= 0",message="request is more than limit: lower request or raise limit"
type PodCPU struct {
	// request is what the pod is guaranteed, for example 100m.
	// +optional
	// +kubebuilder:validation:XValidation:rule="quantity(string(self)).isGreaterThan(quantity('0'))",message="must be more than zero, because KubeVirt replaces a zero by the limit"
	Request *resource.Quantity `json:"request,omitempty"`

	// limit is what the pod may use at most, for example 2.
	// +optional
	// +kubebuilder:validation:XValidation:rule="quantity(string(self)).isGreaterThan(quantity('0'))",message="must be more than zero"
	Limit *resource.Quantity `json:"limit,omitempty"`
}

// Spread keeps machines apart.
type Spread struct {
	// topologyKey is the label of hosts that tells one domain from another, for
	// example topology.kubernetes.io/zone.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=316
	TopologyKey string `json:"topologyKey,omitempty"`

	// maxSkew is how much the number of machines may differ between domains.
	// +optional
	// +default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxSkew int32 `json:"maxSkew,omitempty"`

	// whenUnsatisfiable says what happens when machines cannot be kept apart:
	// ScheduleAnyway or DoNotSchedule.
	// +optional
	// +default="ScheduleAnyway"
	WhenUnsatisfiable SpreadPolicy `json:"whenUnsatisfiable,omitempty"`
}

// SpreadPolicy is what happens when machines cannot be kept apart.
//
// +kubebuilder:validation:Enum=ScheduleAnyway;DoNotSchedule
type SpreadPolicy string

// SerialConsole says what happens to the console of a virtual machine.
//
// +kubebuilder:validation:Enum=Logged;Hidden
type SerialConsole string

// The two answers.
const (
	ConsoleLogged SerialConsole = "Logged"
	ConsoleHidden SerialConsole = "Hidden"
)

// BootstrapKind is how machine configuration reaches Cluster API.
//
// +kubebuilder:validation:Enum=Secret;TalosConfigTemplate
type BootstrapKind string

// The ways in which machine configuration reaches Cluster API.
const (
	BootstrapSecret              BootstrapKind = "Secret"
	BootstrapTalosConfigTemplate BootstrapKind = "TalosConfigTemplate"
)

// MetalMachine is machines that exist already.
type MetalMachine struct {
	// hosts are the machines. Adding one installs it; removing one drains it and
	// wipes it.
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:XValidation:rule="[self.map(h, h.address)].all(all, all.all(a, all.indexOf(a) == all.lastIndexOf(a)))",message="two hosts have the same address: give each host its own"
	// +listType=map
	// +listMapKey=name
	Hosts []MetalHost `json:"hosts,omitempty"`

	// secureBoot says whether the hosts boot with SecureBoot. Changing it
	// reinstalls every machine.
	// +optional
	// +default="Disabled"
	SecureBoot SecureBoot `json:"secureBoot,omitempty"`
}

// MetalHost is one machine that exists.
type MetalHost struct {
	// name is the host name of the machine, and so the name of its Node. Changing
	// it reinstalls the machine.
	// +required
	Name Name `json:"name,omitempty"`

	// address is the IP address by which Minos reaches the machine's Talos API.
	// +required
	Address Address `json:"address,omitempty"`

	// disk is the disk that Talos is installed on, by its path or by what it is.
	// Changing it reinstalls the machine.
	// +required
	Disk InstallDisk `json:"disk,omitzero"`

	// config is the layer of this one machine, above all others: its network
	// addresses, for example. Changing it is applied live where Talos can, and
	// with a reboot where it cannot.
	// +optional
	Config *Layer `json:"config,omitempty"`
}

// InstallDisk says which disk Talos is installed on. Exactly one member is
// set.
//
// +kubebuilder:validation:ExactlyOneOf=path;match
type InstallDisk struct {
	// path is the device, for example /dev/nvme0n1 or, which does not change
	// between boots, one of /dev/disk/by-id.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.startsWith('/dev/')",message="must be a device, for example /dev/sda"
	Path string `json:"path,omitempty"`

	// match is an expression over the disk's properties, as in Talos volume
	// selectors, for example disk.transport == "nvme" && disk.size > 500u * GB.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Match string `json:"match,omitempty"`
}

// SecureBoot says whether machines boot with SecureBoot.
//
// +kubebuilder:validation:Enum=Disabled;Enabled
type SecureBoot string

// The two answers.
const (
	SecureBootDisabled SecureBoot = "Disabled"
	SecureBootEnabled  SecureBoot = "Enabled"
)

// SimMachine is a simulated machine.
type SimMachine struct {
	// resources is the processor and memory that the simulated Node offers.
	// Without it: 4 and 8Gi. Changing it replaces every machine.
	// +optional
	Resources *Resources `json:"resources,omitempty"`

	// gpu is the maker of the graphics processor that the machine pretends to
	// have. Changing it replaces every machine.
	// +optional
	GPU GPUVendor `json:"gpu,omitempty"`
}

// GPUVendor is a maker of graphics processors.
//
// +kubebuilder:validation:Enum=NVIDIA;AMD;Intel
type GPUVendor string

// The makers whose drivers Talos has extensions for.
const (
	GPUNVIDIA GPUVendor = "NVIDIA"
	GPUAMD    GPUVendor = "AMD"
	GPUIntel  GPUVendor = "Intel"
)
