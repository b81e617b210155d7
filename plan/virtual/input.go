// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/plan/pool"
	"minos.dev/minos/talos/image"
)

// The kinds of others that a pool is made of.
var (
	DeploymentKind = schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "MachineDeployment"}
	SetKind        = schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "MachineSet"}
	MachineKind    = schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Machine"}
	HealthKind     = schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "MachineHealthCheck"}
	ClusterKind    = schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Cluster"}

	TemplateKind       = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1alpha1", Kind: "KubevirtMachineTemplate"}
	VirtualMachineKind = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1alpha1", Kind: "KubevirtMachine"}

	BootstrapKind    = schema.GroupVersionKind{Group: "bootstrap.cluster.x-k8s.io", Version: "v1alpha3", Kind: "TalosConfigTemplate"}
	InstancetypeKind = schema.GroupVersionKind{Group: "instancetype.kubevirt.io", Version: "v1beta1", Kind: "VirtualMachineClusterInstancetype"}
)

// Kinds are those that a pool needs, with who brings them.
func Kinds(wanted *api.NodePool) map[schema.GroupVersionKind]string {
	needed := map[schema.GroupVersionKind]string{
		DeploymentKind: "Cluster API", SetKind: "Cluster API", MachineKind: "Cluster API", HealthKind: "Cluster API",
		TemplateKind: "Cluster API's provider for KubeVirt", VirtualMachineKind: "Cluster API's provider for KubeVirt",
	}
	if machine := wanted.Spec.Machine.KubeVirt; machine != nil && machine.Bootstrap == api.BootstrapTalosConfigTemplate {
		needed[BootstrapKind] = "Cluster API's bootstrap provider for Talos"
	}
	return needed
}

// deploymentLabel is Cluster API's own.
const deploymentLabel = "cluster.x-k8s.io/deployment-name"

// Input is what decides the objects of a pool.
type Input struct {
	// Cluster is the pool's. Its Kubernetes version is that of the kubelets: never ahead of the API server.
	Cluster *api.TalosCluster
	// Pool is the pool.
	Pool *api.NodePool
	// Role is its role, with what it extends folded in.
	Role *api.NodeRole
	// Location is its place.
	Location api.LocationSpec
	// Revision is the Secret with the configuration.
	Revision string
	// Configuration is what is in it. Only a TalosConfigTemplate needs it.
	Configuration []byte
	// Granted is how many machines the pool may have: for an autoscaled pool the greatest number.
	Granted int32
	// Have is how many machines are wanted at the moment, by whoever decides it.
	Have int32
	// Kept is how many failed machines are kept for study beside them.
	Kept int32
	// Size is that of a machine, where it is known.
	Size *api.Resources
	// Budget is what a roll-out may disturb.
	Budget pool.Budget
}

// Objects are those of a pool, in the order in which they are made.
type Objects struct {
	// Trust is the certificates with which the disk is imported: nil where there are none.
	Trust *unstructured.Unstructured
	// Template is the machine.
	Template *unstructured.Unstructured
	// Bootstrap is the TalosConfigTemplate of pools that have one, or nil.
	Bootstrap *unstructured.Unstructured
	// Deployment is the machines.
	Deployment *unstructured.Unstructured
	// Health is when they are replaced.
	Health *unstructured.Unstructured
	// Image is what they boot.
	Image image.Image
	// Capacity is what one machine offers, where it is known.
	Capacity map[string]resource.Quantity
}

// For returns the objects of a pool.
func For(in Input) (Objects, error) {
	booted, address, err := in.image()
	if err != nil {
		return Objects{}, err
	}
	made := Objects{Image: booted, Capacity: in.capacity(), Trust: in.trust()}
	if made.Template, err = in.template(booted, address, made.Trust); err != nil {
		return Objects{}, err
	}
	if in.Pool.Spec.Machine.KubeVirt.Bootstrap == api.BootstrapTalosConfigTemplate {
		made.Bootstrap = in.bootstrap()
	}
	made.Deployment = in.deployment(made)
	made.Health = in.health()
	return made, nil
}

// fields are those of an object, as the API server has them.
type fields = map[string]any

// object begins an object of the pool.
func (in Input) object(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	made := &unstructured.Unstructured{Object: fields{}}
	made.SetGroupVersionKind(kind)
	made.SetNamespace(in.Pool.Namespace)
	made.SetName(name)
	made.SetLabels(in.labels())
	made.SetOwnerReferences([]metav1.OwnerReference{Owner(in.Pool)})
	return made
}

// labels are those of all objects of the pool.
func (in Input) labels() map[string]string {
	labels := names.Labels(in.Cluster.Name, in.Pool.Name)
	labels[names.LabelClusterAPI] = in.Cluster.Name
	return labels
}

// Owner is a pool as the owner of what is made for it.
func Owner(owner *api.NodePool) metav1.OwnerReference {
	return *metav1.NewControllerRef(owner, api.GroupVersion.WithKind("NodePool"))
}

// texts are labels as fields.
func texts(labels map[string]string) fields {
	made := fields{}
	for key, value := range labels {
		made[key] = value
	}
	return made
}
