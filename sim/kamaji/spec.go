// SPDX-License-Identifier: Apache-2.0

package kamaji

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A spec is what of KamajiControlPlane.spec matters here. It is the same in v1alpha1 and v1alpha2.
type spec struct {
	Version    string     `json:"version"`
	Replicas   *int32     `json:"replicas"`
	Network    network    `json:"network"`
	Deployment deployment `json:"deployment"`
}

// A network is how a control plane is reached.
type network struct {
	CertSANs               []string      `json:"certSANs"`
	AdvertiseAddress       string        `json:"advertiseAddress"`
	AdditionalServicePorts []servicePort `json:"additionalServicePorts"`
	Ingress                *host         `json:"ingress"`
	Gateway                *host         `json:"gateway"`
}

// A host is a name under which others make it reachable.
type host struct {
	Hostname string `json:"hostname"`
}

// A servicePort is one more port of the Service.
type servicePort struct {
	Port       int32              `json:"port"`
	TargetPort intstr.IntOrString `json:"targetPort"`
	Protocol   corev1.Protocol    `json:"protocol"`
}

// A deployment is what runs beside the API server.
type deployment struct {
	ExtraContainers []corev1.Container `json:"extraContainers"`
	ExtraVolumes    []corev1.Volume    `json:"extraVolumes"`
}

// readSpec reads the spec of a KamajiControlPlane, and refuses what the provider refuses.
func readSpec(object *unstructured.Unstructured) (spec, error) {
	var read struct {
		Spec spec `json:"spec"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &read); err != nil {
		return spec{}, err
	}
	for _, name := range read.Spec.Network.CertSANs {
		if _, _, err := net.SplitHostPort(name); err == nil {
			return spec{}, fmt.Errorf("entry %s of certSANs has a port, which a certificate cannot have", name)
		}
	}
	return read.Spec, nil
}

// version is the release of Kubernetes, as Kamaji writes it.
func (s spec) version() string {
	if strings.HasPrefix(s.Version, "v") {
		return s.Version
	}
	return "v" + s.Version
}

// replicas is how many API servers there should be.
func (s spec) replicas() int64 {
	if s.Replicas == nil {
		return 2
	}
	return int64(*s.Replicas)
}

// published is the name under which an ingress or a gateway makes the API server reachable, with a port if one is given.
func (s spec) published() string {
	switch {
	case s.Network.Ingress != nil:
		return s.Network.Ingress.Hostname
	case s.Network.Gateway != nil:
		return s.Network.Gateway.Hostname
	}
	return ""
}

// names are the names of the API server beside its address: what the spec says, its Service, and where it is published.
func (s spec) names(key types.NamespacedName) []string {
	names := slices.Clone(s.Network.CertSANs)
	names = append(names, key.Name+"."+key.Namespace+".svc", key.Name+"."+key.Namespace+".svc.cluster.local")
	if s.Network.AdvertiseAddress != "" {
		names = append(names, s.Network.AdvertiseAddress)
	}
	if name := s.published(); name != "" {
		if host, _, err := net.SplitHostPort(name); err == nil {
			name = host
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// endpoint is where others are told to find the API server.
func (s spec) endpoint(at netip.AddrPort) (string, int64, error) {
	name := s.published()
	if name == "" {
		return at.Addr().String(), int64(at.Port()), nil
	}
	if !strings.Contains(name, ":") {
		return name, 443, nil
	}
	host, text, err := net.SplitHostPort(name)
	if err != nil {
		return "", 0, fmt.Errorf("host name %q: %w", name, err)
	}
	port, err := strconv.ParseInt(text, 10, 32)
	return host, port, err
}

// A cluster is what of a Cluster matters here.
type cluster struct {
	Name string
	Spec struct {
		Paused         bool `json:"paused"`
		ClusterNetwork struct {
			Services struct {
				CIDRBlocks []string `json:"cidrBlocks"`
			} `json:"services"`
		} `json:"clusterNetwork"`
		ControlPlaneEndpoint struct {
			Host string `json:"host"`
		} `json:"controlPlaneEndpoint"`
		InfrastructureRef struct {
			APIGroup string `json:"apiGroup"`
			Kind     string `json:"kind"`
			Name     string `json:"name"`
		} `json:"infrastructureRef"`
	} `json:"spec"`
	Status struct {
		Initialization struct {
			InfrastructureProvisioned bool `json:"infrastructureProvisioned"`
		} `json:"initialization"`
	} `json:"status"`
}

// readCluster reads a Cluster.
func readCluster(object *unstructured.Unstructured) (cluster, error) {
	var read cluster
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &read)
	read.Name = object.GetName()
	return read, err
}

// services is the network of services, or nothing.
func (c cluster) services() (netip.Prefix, error) {
	blocks := c.Spec.ClusterNetwork.Services.CIDRBlocks
	if len(blocks) == 0 {
		return netip.Prefix{}, nil
	}
	return netip.ParsePrefix(blocks[0])
}

// provisioned says what is missing before the provider calls a control plane initialized.
func (c cluster) provisioned() error {
	if c.Spec.ControlPlaneEndpoint.Host == "" {
		return errors.New("the Cluster has no control plane endpoint yet")
	}
	if !c.Status.Initialization.InfrastructureProvisioned {
		return errors.New("the infrastructure of the Cluster is not provisioned yet")
	}
	return nil
}

// ownerOf is the name of the Cluster that owns a control plane. Cluster API sets it; until then there is none.
func ownerOf(object *unstructured.Unstructured) string {
	for _, owner := range object.GetOwnerReferences() {
		if owner.Kind == "Cluster" && strings.HasPrefix(owner.APIVersion, "cluster.x-k8s.io/") {
			return owner.Name
		}
	}
	return ""
}
