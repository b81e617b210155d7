// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// ControlPlane is what runs the Kubernetes API of a cluster. Exactly one
// member is set.
//
// +kubebuilder:validation:ExactlyOneOf=kamaji;external;talos
// +kubebuilder:validation:XValidation:rule="has(self.kamaji) == has(oldSelf.kamaji) && has(self.external) == has(oldSelf.external) && has(self.talos) == has(oldSelf.talos)",message="the kind of control plane cannot change: make a new cluster and move the workloads"
type ControlPlane struct {
	// kamaji hosts the control plane as pods of the management cluster, with the
	// signer that Talos workers need beside it.
	// +optional
	Kamaji *KamajiControlPlane `json:"kamaji,omitempty"`

	// external is an API server that exists already and that Minos does not run:
	// kubeadm, k3s, a managed service, or the management cluster itself. Minos
	// brings the Talos side of it.
	// +optional
	External *ExternalControlPlane `json:"external,omitempty"`

	// talos runs the control plane on Talos machines of the cluster's own: those
	// of the pools whose role is of machine type ControlPlane.
	// +optional
	Talos *TalosControlPlane `json:"talos,omitempty"`
}

// KamajiControlPlane is a control plane that Kamaji hosts.
//
// +kubebuilder:validation:XValidation:rule="has(self.dataStoreName) == has(oldSelf.dataStoreName)",message="dataStoreName cannot be added or removed later: move the state with Kamaji's own data store migration"
type KamajiControlPlane struct {
	// replicas is how many copies of the control plane run. Without it: 2.
	// Changing it rolls no machine.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	Replicas *int32 `json:"replicas,omitempty"`

	// dataStoreName is the Kamaji data store that keeps the cluster's state.
	// Without it: Kamaji's default one. The namespace's annotation
	// minos.dev/data-stores has to name it. It cannot change here: moving a
	// cluster's state to another store is a migration of Kamaji's own.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change: move the state with Kamaji's own data store migration"
	DataStoreName Name `json:"dataStoreName,omitempty"`

	// service is how the API server is reached. Without it: inside the management
	// cluster only.
	// +optional
	Service *ControlPlaneService `json:"service,omitempty"`

	// certSANs are further names and addresses for the API server's certificate,
	// for example that of a proxy. Changing them restarts the control plane's pods
	// and rolls no machine.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	CertSANs []string `json:"certSANs,omitempty"`

	// apiServer is the size of the API server. Without it: a size that suits small
	// clusters.
	// +optional
	APIServer *ControlPlaneComponent `json:"apiServer,omitempty"`

	// controllerManager is the size of the controller manager. Without it: a size
	// that suits small clusters.
	// +optional
	ControllerManager *ControlPlaneComponent `json:"controllerManager,omitempty"`

	// scheduler is the size of the scheduler. Without it: a size that suits small
	// clusters.
	// +optional
	Scheduler *ControlPlaneComponent `json:"scheduler,omitempty"`
}

// ControlPlaneComponent is one program of a hosted control plane.
type ControlPlaneComponent struct {
	// resources is what the program may use and is guaranteed. Changing it
	// restarts the program and rolls no machine.
	// +required
	Resources Resources `json:"resources,omitzero"`
}

// ControlPlaneService is how a hosted control plane is reached.
type ControlPlaneService struct {
	// type is ClusterIP when all machines live in the management cluster's
	// network, and LoadBalancer when any is outside. A node port cannot serve:
	// Talos workers ask for certificates on port 50001 and on no other.
	// +required
	Type ServiceType `json:"type,omitempty"`

	// annotations are put on the Service, for example to choose an address pool of
	// the load balancer.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Annotations map[string]string `json:"annotations,omitempty"`

	// labels are put on the Service.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Labels map[string]string `json:"labels,omitempty"`
}

// ServiceType is how a Service is exposed.
//
// +kubebuilder:validation:Enum=ClusterIP;LoadBalancer
type ServiceType string

// The ways in which a hosted control plane can be exposed.
const (
	ServiceClusterIP    ServiceType = "ClusterIP"
	ServiceLoadBalancer ServiceType = "LoadBalancer"
)

// ExternalControlPlane is an API server that Minos does not run.
type ExternalControlPlane struct {
	// kubeconfigSecretRef is the Secret with a kubeconfig by which Minos reaches
	// the API server, in the namespace of the cluster. Changing it rolls no
	// machine.
	// +required
	KubeconfigSecretRef SecretKeyReference `json:"kubeconfigSecretRef,omitzero"`
}

// TalosControlPlane is a control plane on Talos machines.
type TalosControlPlane struct {
	// workloads says whether ordinary workloads may run on the control-plane
	// machines. Refused keeps them apart, as production wants it; Allowed suits a
	// home lab or a single machine. Changing it is applied live, without a reboot.
	// +optional
	// +default="Refused"
	Workloads ControlPlaneWorkloads `json:"workloads,omitempty"`
}

// ControlPlaneWorkloads says whether control-plane machines take ordinary
// workloads.
//
// +kubebuilder:validation:Enum=Refused;Allowed
type ControlPlaneWorkloads string

// The two answers.
const (
	WorkloadsRefused ControlPlaneWorkloads = "Refused"
	WorkloadsAllowed ControlPlaneWorkloads = "Allowed"
)
