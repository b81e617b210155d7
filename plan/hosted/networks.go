// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"fmt"
	"net/netip"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/config"
)

// Overlap says which network of a cluster shares addresses with one of the management cluster's. Machines of the cluster live
// in both, and a pod or DNS address that exists twice leads to the wrong one.
func Overlap(cluster *api.TalosCluster, management []netip.Prefix) error {
	networks := config.Network(cluster)
	for _, one := range []struct {
		field string
		cidrs []api.CIDR
	}{{"podCIDRs", networks.PodCIDRs}, {"serviceCIDRs", networks.ServiceCIDRs}} {
		for _, cidr := range one.cidrs {
			prefix, err := netip.ParsePrefix(string(cidr))
			if err != nil {
				return fmt.Errorf("spec.network.%s: %q is no network", one.field, cidr)
			}
			for _, other := range management {
				if prefix.Overlaps(other) {
					return fmt.Errorf("spec.network.%s: %s shares addresses with %s of the management cluster: make the cluster anew with another network",
						one.field, cidr, other)
				}
			}
		}
	}
	return nil
}
