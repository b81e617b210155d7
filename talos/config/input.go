// SPDX-License-Identifier: Apache-2.0

package config

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"

	api "minos.dev/minos/api/v1alpha1"
)

// Input is all that decides the configuration of a pool's machines. Nothing else does: the same input gives the same
// bytes.
type Input struct {
	// Cluster is the cluster that the machines join.
	Cluster *api.TalosCluster
	// Endpoint is where they reach the API server: the cluster's own, or the one that its hosted control plane got.
	Endpoint api.Endpoint
	// Pool is the pool that they belong to.
	Pool *api.NodePool
	// Role is the pool's role, with what it extends folded in.
	Role *api.NodeRole
	// Place is what the location brings.
	Place api.Place
	// Capacity is the size of a machine where it is known. What the kubelet keeps for itself follows from it.
	Capacity *api.Resources
	// Secrets is the cluster's identity, authorities and tokens.
	Secrets *secrets.Bundle
	// Accepted is what is accepted beside the authorities in Secrets, while one of them is being replaced.
	Accepted Accepted
	// Values are the values of the Secrets that the role's services refer to.
	Values map[api.SecretKeyReference]string
	// Installer is the installer image, by which metal is installed and every machine upgraded.
	Installer string
}

// DefaultNetwork is the networks of a cluster that names none.
func DefaultNetwork() api.ClusterNetwork {
	return api.ClusterNetwork{PodCIDRs: []api.CIDR{"10.244.0.0/16"}, ServiceCIDRs: []api.CIDR{"10.96.0.0/16"}, DNSDomain: "cluster.local"}
}

// Network returns the networks of a cluster.
func Network(cluster *api.TalosCluster) api.ClusterNetwork {
	if cluster.Spec.Network == nil {
		return DefaultNetwork()
	}
	network := *cluster.Spec.Network.DeepCopy()
	if network.DNSDomain == "" {
		network.DNSDomain = DefaultNetwork().DNSDomain
	}
	return network
}

// Contract is the shape of configuration that a Talos version takes.
func Contract(version api.TalosVersion) (*config.VersionContract, error) {
	contract, err := config.ParseContractFromVersion(string(version))
	if err != nil {
		return nil, fmt.Errorf("talos version %q: %w", version, err)
	}
	return contract, nil
}

// URL is the address of an API server.
func URL(endpoint api.Endpoint) string {
	host := endpoint.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]" // an IPv6 address
	}
	return fmt.Sprintf("https://%s:%d", host, cmp.Or(endpoint.Port, 6443))
}

// texts is a list of named texts as plain ones.
func texts[T ~string](values []T) []string {
	var plain []string
	for _, value := range values {
		plain = append(plain, string(value))
	}
	return plain
}
