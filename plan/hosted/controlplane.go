// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	api "minos.dev/minos/api/v1alpha1"
)

// TrustPort is where Talos workers ask for their certificates. They know no other port.
const TrustPort = 50001

// controlPlane is the object from which Kamaji makes the control plane, with the signer beside it.
func controlPlane(cluster *api.TalosCluster, facts Facts) *unstructured.Unstructured {
	wanted := cluster.Spec.ControlPlane.Kamaji
	spec := map[string]any{
		"version":           string(facts.KubernetesVersion),
		"replicas":          int64(replicas(wanted)),
		"apiServer":         component(wanted.APIServer, "2", "2Gi"), // with 512Mi it dies when workers join
		"controllerManager": component(wanted.ControllerManager, "500m", "256Mi"),
		"scheduler":         component(wanted.Scheduler, "500m", "256Mi"),
		"kubelet":           kubelet(facts.Served),
		"addons":            addons(cluster),
		"network":           network(cluster),
		"deployment": map[string]any{
			"extraContainers": []any{signer(cluster, facts)},
			"extraVolumes":    volumes(cluster),
		},
	}
	if wanted.DataStoreName != "" {
		spec["dataStoreName"] = string(wanted.DataStoreName)
	}
	made := object(cluster, ControlPlaneKind, facts.Served, spec)
	labels := made.GetLabels()
	labels["cluster.x-k8s.io/role"] = "control-plane"
	made.SetLabels(labels)
	// The kubeconfig that leads through the Service works from within the management cluster, whatever the endpoint is.
	made.SetAnnotations(map[string]string{"kamaji.clastix.io/kubeconfig-secret-key": "super-admin.svc"})
	return made
}

// replicas is how many copies there are.
func replicas(wanted *api.KamajiControlPlane) int32 {
	if wanted.Replicas == nil {
		return 2
	}
	return *wanted.Replicas
}

// kubelet is how the API server finds kubelets. By name it would need a DNS that knows machines. The older version of the kind
// still wants to know of control groups.
func kubelet(served string) map[string]any {
	made := map[string]any{"preferredAddressTypes": []any{"InternalIP", "ExternalIP"}}
	if served == "v1alpha1" {
		made["cgroupfs"] = "systemd"
	}
	return made
}

// addons are what Kamaji installs in the cluster: the way from the API server to the kubelets, DNS, and kube-proxy unless
// the pod network is one that takes its place.
func addons(cluster *api.TalosCluster) map[string]any {
	made := map[string]any{
		"konnectivity": map[string]any{"server": map[string]any{"port": int64(8132)}},
		"coreDNS":      map[string]any{},
	}
	if cni := cluster.Spec.CNI; cni == nil || cni.Provider != api.CNICilium {
		made["kubeProxy"] = map[string]any{}
	}
	return made
}

// network is how the control plane is reached: the API server, and beside it the signer.
func network(cluster *api.TalosCluster) map[string]any {
	made := map[string]any{
		"serviceType": string(api.ServiceClusterIP),
		"certSANs":    list(certSANs(cluster)),
		"additionalServicePorts": []any{map[string]any{
			"name": "talos-trustd", "port": int64(TrustPort), "targetPort": int64(TrustPort), "protocol": "TCP",
		}},
	}
	service := cluster.Spec.ControlPlane.Kamaji.Service
	if service == nil {
		return made
	}
	made["serviceType"] = string(service.Type)
	if len(service.Annotations) > 0 {
		made["serviceAnnotations"] = texts(service.Annotations)
	}
	if len(service.Labels) > 0 {
		made["serviceLabels"] = texts(service.Labels)
	}
	return made
}

// certSANs are the names of the API server that Kamaji does not know by itself.
func certSANs(cluster *api.TalosCluster) []string {
	found := append(ServiceNames(cluster), cluster.Spec.ControlPlane.Kamaji.CertSANs...)
	if cluster.Spec.Endpoint != nil {
		found = append(found, cluster.Spec.Endpoint.Host)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// ServiceNames are the names by which the management cluster's own machines reach a hosted control plane.
func ServiceNames(cluster *api.TalosCluster) []string {
	short := fmt.Sprintf("%s.%s.svc", cluster.Name, cluster.Namespace)
	return []string{short, short + ".cluster.local"}
}

// component is the size of a program: its memory is guaranteed, of its processor a tenth.
func component(wanted *api.ControlPlaneComponent, cpu, memory string) map[string]any {
	size := api.Resources{CPU: resource.MustParse(cpu), Memory: resource.MustParse(memory)}
	if wanted != nil {
		size = wanted.Resources
	}
	guaranteed := resource.NewMilliQuantity(max(size.CPU.MilliValue()/10, 1), resource.DecimalSI)
	return map[string]any{"resources": map[string]any{
		"requests": map[string]any{"cpu": guaranteed.String(), "memory": size.Memory.String()},
		"limits":   map[string]any{"cpu": size.CPU.String(), "memory": size.Memory.String()},
	}}
}

// texts is a map of texts as an object has it.
func texts(values map[string]string) map[string]any {
	made := map[string]any{}
	for key, value := range values {
		made[key] = value
	}
	return made
}
