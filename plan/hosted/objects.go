// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/talos/config"
)

// A Kind is one of somebody else's that a hosted cluster is made of.
type Kind struct {
	// Kind is the kind itself.
	Kind schema.GroupKind
	// Versions are those that we know, the best first.
	Versions []string
	// Install is what brings it to a management cluster.
	Install string
}

// The kinds that a hosted cluster is made of.
var (
	ClusterKind = Kind{
		schema.GroupKind{Group: "cluster.x-k8s.io", Kind: "Cluster"}, []string{"v1beta2"},
		"Cluster API v1.11 or newer",
	}
	MachineKind = Kind{
		schema.GroupKind{Group: "cluster.x-k8s.io", Kind: "Machine"}, []string{"v1beta2"},
		"Cluster API v1.11 or newer",
	}
	ControlPlaneKind = Kind{
		schema.GroupKind{Group: "controlplane.cluster.x-k8s.io", Kind: "KamajiControlPlane"}, []string{"v1alpha2", "v1alpha1"},
		"Kamaji and its Cluster API control plane provider v0.20.0 or newer",
	}
	InfrastructureKind = Kind{
		schema.GroupKind{Group: "infrastructure.cluster.x-k8s.io", Kind: "KubevirtCluster"}, []string{"v1alpha1"},
		"the Cluster API infrastructure provider of KubeVirt",
	}
)

// Kinds are those without which there is no hosted cluster, in the order in which objects of them are made.
func Kinds() []Kind { return []Kind{InfrastructureKind, ControlPlaneKind, ClusterKind} }

// Facts are what the objects of a cluster follow from, beside the cluster itself.
type Facts struct {
	// Served is the version of KamajiControlPlane that the management cluster serves.
	Served string
	// SignerImage is the image of the signer, as [SignerImage] says.
	SignerImage string
	// KubernetesVersion is the one to ask for next.
	KubernetesVersion api.KubernetesVersion
}

// Objects are what Cluster API and Kamaji are asked for, in the order of [Kinds].
func Objects(cluster *api.TalosCluster, facts Facts) []*unstructured.Unstructured {
	return []*unstructured.Unstructured{infrastructure(cluster), controlPlane(cluster, facts), owner(cluster)}
}

// owner is Cluster API's Cluster, which makes itself the owner of the other two.
func owner(cluster *api.TalosCluster) *unstructured.Unstructured {
	network := config.Network(cluster)
	made := object(cluster, ClusterKind, "v1beta2", map[string]any{
		"clusterNetwork": map[string]any{
			"pods":          map[string]any{"cidrBlocks": list(network.PodCIDRs)},
			"services":      map[string]any{"cidrBlocks": list(network.ServiceCIDRs)},
			"serviceDomain": network.DNSDomain,
		},
		"controlPlaneRef":   reference(cluster, ControlPlaneKind),
		"infrastructureRef": reference(cluster, InfrastructureKind),
	})
	made.SetOwnerReferences([]metav1.OwnerReference{Owner(cluster)})
	return made
}

// infrastructure is what Cluster API wants to count infrastructure as provisioned. It is there for every hosted cluster, with
// KubeVirt pools or without; Kamaji's provider looks after it, as the annotation says to KubeVirt's.
func infrastructure(cluster *api.TalosCluster) *unstructured.Unstructured {
	made := object(cluster, InfrastructureKind, "v1alpha1", map[string]any{})
	made.SetAnnotations(map[string]string{"cluster.x-k8s.io/managed-by": "kamaji"})
	return made
}

// object is an object of a cluster, by the cluster's name. It has no owner yet: Cluster API sets the Cluster as the one that
// controls it, and there can be only one.
func object(cluster *api.TalosCluster, kind Kind, version string, spec map[string]any) *unstructured.Unstructured {
	made := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	made.SetGroupVersionKind(kind.Kind.WithVersion(version))
	made.SetNamespace(cluster.Namespace)
	made.SetName(cluster.Name)
	labels := names.Labels(cluster.Name, "")
	labels[names.LabelClusterAPI] = cluster.Name
	made.SetLabels(labels)
	return made
}

// reference is how a Cluster refers to an object of its own name.
func reference(cluster *api.TalosCluster, kind Kind) map[string]any {
	return map[string]any{"apiGroup": kind.Kind.Group, "kind": kind.Kind.Kind, "name": cluster.Name}
}

// Owner is a cluster as the owner of what is made for it.
func Owner(cluster *api.TalosCluster) metav1.OwnerReference {
	return *metav1.NewControllerRef(cluster, api.GroupVersion.WithKind("TalosCluster"))
}

// list is a list of texts as an object has it.
func list[T ~string](values []T) []any {
	made := make([]any, 0, len(values))
	for _, value := range values {
		made = append(made, string(value))
	}
	return made
}
