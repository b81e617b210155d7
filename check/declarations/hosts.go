// SPDX-License-Identifier: Apache-2.0

package declarations

import (
	"fmt"
	"net/netip"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/config"
)

// hosts finds machines of metal that are in each other's way, over all pools: a pool's own definition sees its own hosts
// only.
type hosts struct {
	names     map[string]string // by cluster and name, the pool that has it
	addresses map[string]string // by place and address, the host that has it
}

// check looks at the hosts of one pool. A Node's name is its host's, so that names are unique in a cluster; an address is
// unique in a place, because two places may number their networks alike.
func (h *hosts) check(document *load.Document, pool *api.NodePool, cluster *api.TalosCluster) []load.Problem {
	if pool.Spec.Machine.Metal == nil {
		return nil
	}
	var problems []load.Problem
	for i, host := range pool.Spec.Machine.Metal.Hosts {
		path := fmt.Sprintf("spec.machine.metal.hosts[%d]", i)
		name := pool.Namespace + "/" + string(pool.Spec.ClusterName) + "/" + string(host.Name)
		if other, taken := h.names[name]; taken && other != pool.Name {
			problems = append(problems, document.Problem(path+".name", fmt.Sprintf("pool %s has a host %q too: rename one of them", other, host.Name)))
		}
		h.names[name] = pool.Name
		where := fmt.Sprintf("%s/%s/%s/%s", pool.Spec.LocationRef.Kind, pool.Namespace, pool.Spec.LocationRef.Name, host.Address)
		if other, taken := h.addresses[where]; taken && other != string(host.Name) {
			problems = append(problems, document.Problem(path+".address", fmt.Sprintf("host %s has the address %s too: give each its own", other, host.Address)))
		}
		h.addresses[where] = string(host.Name)
		if network := networkWith(cluster, string(host.Address)); network != "" {
			problems = append(problems, document.Problem(path+".address", fmt.Sprintf("%s is inside %s of cluster %s: what is in there is not reachable from outside; choose other networks for the cluster", host.Address, network, cluster.Name)))
		}
	}
	return problems
}

// networkWith names the network of a cluster that an address is in; empty if it is in none.
func networkWith(cluster *api.TalosCluster, address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil || cluster == nil {
		return "" // a name, or nothing to compare with
	}
	network := config.Network(cluster)
	for what, networks := range map[string][]api.CIDR{"the pod network": network.PodCIDRs, "the service network": network.ServiceCIDRs} {
		for _, cidr := range networks {
			if prefix, err := netip.ParsePrefix(string(cidr)); err == nil && prefix.Contains(ip) {
				return fmt.Sprintf("%s %s", what, cidr)
			}
		}
	}
	return ""
}

// checkCluster looks at a cluster by itself.
func checkCluster(document *load.Document, cluster *api.TalosCluster) []load.Problem {
	if cluster.Spec.Endpoint == nil {
		return nil
	}
	host := cluster.Spec.Endpoint.Host
	if network := networkWith(cluster, host); network != "" {
		text := fmt.Sprintf("%s is inside %s: machines must reach it before that network exists; choose another", host, network)
		return []load.Problem{document.Problem("spec.endpoint.host", text)}
	}
	return nil
}
