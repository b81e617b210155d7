// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"minos.dev/minos/adopt/patch"
	api "minos.dev/minos/api/v1alpha1"
)

// facts are what the configurations say of the whole cluster. They are read from the result and not from the other tool's
// fields, because a patch may have changed them.
type facts struct {
	name      string
	endpoint  *url.URL
	domain    string
	pods      []string
	services  []string
	workloads bool
}

// factsOf reads the facts from a machine of the control plane: the other machines have the same, or the comparison says
// so.
func factsOf(machine *Machine) (*facts, error) {
	old, cluster, network := machine.Config.Document(""), machine.Config.Document("KubeClusterConfig"), machine.Config.Document("KubeNetworkConfig")
	found := &facts{
		name:     text(old, "cluster", "clusterName"),
		domain:   text(old, "cluster", "network", "dnsDomain"),
		pods:     texts(patch.Get(old, "cluster", "network", "podSubnets")),
		services: texts(patch.Get(old, "cluster", "network", "serviceSubnets")),
	}
	address := text(old, "cluster", "controlPlane", "endpoint")
	found.workloads, _ = patch.Get(old, "cluster", "allowSchedulingOnControlPlanes").(bool)
	if cluster != nil {
		found.name, address = text(cluster, "clusterName"), text(cluster, "endpoint")
	}
	if network != nil {
		found.domain = text(network, "dnsDomain")
		found.pods, found.services = texts(network["podSubnets"]), texts(network["serviceSubnets"])
	}
	endpoint, err := url.Parse(address)
	if err != nil || endpoint.Hostname() == "" {
		return nil, fmt.Errorf("%s: the endpoint %q is not an address such as https://192.0.2.10:6443", machine.Origin, address)
	}
	found.endpoint = endpoint
	return found, nil
}

// clusterName is the name as our kinds want it. Another name is a difference that the comparison shows.
func (f *facts) clusterName() string { return label(f.name, longestCluster) }

// port is the port of the endpoint.
func (f *facts) port() int {
	if port, err := strconv.Atoi(f.endpoint.Port()); err == nil {
		return port
	}
	if f.endpoint.Scheme == "http" {
		return 80
	}
	return 443
}

// networks are the cluster's networks as our kinds want them: the bits after the prefix are zero. The same ones that we
// would choose need no word.
func (f *facts) networks(ours api.ClusterNetwork) *api.ClusterNetwork {
	found := api.ClusterNetwork{PodCIDRs: masked(f.pods), ServiceCIDRs: masked(f.services), DNSDomain: f.domain}
	if fmt.Sprint(found) == fmt.Sprint(ours) {
		return nil
	}
	return &found
}

func masked(networks []string) []api.CIDR {
	var all []api.CIDR
	for _, one := range networks {
		if prefix, err := netip.ParsePrefix(one); err == nil {
			one = prefix.Masked().String()
		}
		all = append(all, api.CIDR(one))
	}
	return all
}

// longestCluster and longestHost are how long names may be.
const (
	longestCluster = 40
	longestHost    = 63
)

// label makes a name of lower-case letters, digits and '-' from any text.
func label(text string, longest int) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	name := b.String()
	if len(name) > longest {
		name = name[:longest]
	}
	return strings.Trim(name, "-")
}

// text is the text at a path, or nothing.
func text(d patch.Document, path ...string) string {
	found, _ := patch.Get(d, path...).(string)
	return found
}

// texts is a list of texts, or nothing.
func texts(value any) []string {
	list, _ := value.([]any)
	var all []string
	for _, item := range list {
		all = append(all, fmt.Sprint(item))
	}
	return all
}
