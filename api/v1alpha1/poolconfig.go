// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// PoolConfig is a user's layer of machine configuration.
type PoolConfig struct {
	Layer `json:",inline"`

	// labels are put on the pool's Nodes. Changing them is applied live, without a
	// reboot, in every kind of pool.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Labels map[string]string `json:"labels,omitempty"`

	// taints are put on the pool's Nodes when they register. Changing them rolls
	// the machines: a Node's taints belong to the cluster once it is registered.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=key
	Taints []Taint `json:"taints,omitempty"`

	// kubelet is settings of the kubelet. Changing them restarts the kubelet,
	// without a reboot; machines of a kubevirt pool are replaced.
	// +optional
	Kubelet *Kubelet `json:"kubelet,omitempty"`

	// mirrors are registry mirrors for this pool, in place of the cluster's
	// mirrors of the same registries. Changing them is applied live, without a
	// reboot; machines of a kubevirt pool are replaced.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=registry
	Mirrors []RegistryMirror `json:"mirrors,omitempty"`
}

// Kubelet is settings of the kubelet.
type Kubelet struct {
	// extraArgs are command-line arguments, by name without dashes, for example
	// event-qps.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	ExtraArgs map[string]string `json:"extraArgs,omitempty"`

	// systemReserved is kept for Talos itself. Without it: where the size of the
	// machine is known, 5% of it, from 50m and 256Mi up to 500m and 1Gi; otherwise
	// Talos's own default.
	// +optional
	SystemReserved *Resources `json:"systemReserved,omitempty"`

	// kubeReserved is kept for the kubelet and the container runtime. Without it:
	// as for systemReserved.
	// +optional
	KubeReserved *Resources `json:"kubeReserved,omitempty"`

	// evictionHardMemory is the free memory below which pods are evicted at once,
	// as an amount or a share. Without it: 7% where the size of the machine is
	// known, otherwise the kubelet's own default.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[1-9][0-9]?%$') || isQuantity(self)",message="must be an amount such as 256Mi, or a share such as 7%"
	EvictionHardMemory string `json:"evictionHardMemory,omitempty"`

	// evictionSoftMemory is the free memory below which pods are evicted after a
	// while, as an amount or a share. Without it: 10% where the size of the
	// machine is known, otherwise none.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[1-9][0-9]?%$') || isQuantity(self)",message="must be an amount such as 512Mi, or a share such as 10%"
	EvictionSoftMemory string `json:"evictionSoftMemory,omitempty"`

	// maxPods is how many pods a machine takes. Without it: the kubelet's own
	// default, 110.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	MaxPods *int32 `json:"maxPods,omitempty"`
}
