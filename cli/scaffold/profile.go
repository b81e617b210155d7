// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"slices"

	api "minos.dev/minos/api/v1alpha1"
)

// A preset is what a profile answers.
type preset struct {
	environment api.Environment
	platform    string
	topology    string
	workloads   bool
	management  string
	cni         string
	storage     string
	// network is where made-up addresses are from: a home's usual one, or the one that is kept for documentation.
	network string
	// spare is how many workers stand beside a single control plane, and always whether they do beside several too.
	spare  int
	always bool
}

// workers is how many workers stand beside so many control planes.
func (p preset) workers(planes int) int {
	if planes == 1 || p.always {
		return p.spare
	}
	return 0
}

var presets = map[Profile]preset{
	// One control plane is what most have room for. Flannel and a folder on the disk work without installing more.
	Homelab: {
		environment: api.EnvironmentHomelab, platform: Metal, topology: single, workloads: true, management: ByGit,
		cni: "flannel", storage: "local-path", network: "192.168.1.", spare: 2,
	},
	// What the domain recommends: three control planes of their own, policies in the network, copies of the data.
	Production: {
		environment: api.EnvironmentProduction, platform: Metal, topology: three, management: ByCI,
		cni: "cilium", storage: "longhorn", network: "192.0.2.", spare: 3, always: true,
	},
	Edge: {
		environment: api.EnvironmentEdge, platform: AtEdge, topology: single, workloads: true, management: ByGit,
		cni: "flannel", storage: "local-path", network: "192.0.2.",
	},
	Hosted: {
		environment: api.EnvironmentProduction, platform: Virtual, management: ByOperator,
		cni: "cilium", storage: None,
	},
}

// Profiles are the names of the profiles, the simplest first.
func Profiles() []string {
	return []string{string(Homelab), string(Production), string(Edge), string(Hosted)}
}

// The topologies, and how many control planes each has.
const (
	single = "single"
	three  = "three"
	five   = "five"
)

var topologies = map[string]int{single: 1, three: 3, five: 5}

// topologyOf is the word for a number of control planes, or nothing if there is none.
func topologyOf(planes int) string {
	for word, count := range topologies {
		if count == planes {
			return word
		}
	}
	return ""
}

// microcode is what every processor of amd64 should have. Both makers' can be in one image: the kernel takes its own.
var microcode = []string{"amd-ucode", "intel-ucode"}

// guestAgents are extensions that only work in a virtual machine of their hypervisor.
var guestAgents = []string{"hyperv-guest-agent", "qemu-guest-agent", "vmtoolsd-guest-agent", "xen-guest-agent"}

// ofEveryMachine says whether an extension belongs to the machine and not to its work.
func ofEveryMachine(extension string) bool {
	return slices.Contains(microcode, extension) || slices.Contains(guestAgents, extension)
}
