// SPDX-License-Identifier: Apache-2.0

package formation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
)

// Seen is what was seen of one machine of a running cluster.
type Seen struct {
	// Machine is its Node, or how it was asked if it is none.
	Machine string `json:"machine"`
	// Role is what it is for, and By how that is known; empty if it cannot be told.
	Role string `json:"role,omitempty"`
	By   string `json:"by,omitempty"`
	// Text is what was seen, in one line.
	Text string `json:"text"`
}

// A sight is a machine that runs, with what Talos said of it.
type sight struct {
	machine *facts.Machine
	network string // the networks of its cluster
	stage   string // how far its boot is; empty if that is not known
	up      []string
	asked   bool // its services are known
}

// look is what is seen of the machines of a cluster.
func look(all *facts.Facts, cluster *facts.Cluster) []sight {
	stages, services := all.Live.Of(facts.LiveMachineStatuses), all.Live.Of(facts.LiveServices)
	network := cluster.Network()
	var words []string
	for _, one := range slices.Concat(network.PodCIDRs, network.ServiceCIDRs) {
		words = append(words, string(one))
	}
	var found []sight
	for _, machine := range cluster.Machines {
		one := sight{machine: machine, network: strings.Join(words, " "), asked: len(services[machine.Name]) > 0}
		for _, status := range stages[machine.Name] {
			one.stage = status.String("spec.stage")
		}
		for _, service := range services[machine.Name] {
			if strings.HasPrefix(service.Name(), "ext-") {
				one.up = append(one.up, service.Name())
			}
		}
		slices.Sort(one.up)
		found = append(found, one)
	}
	return found
}

// as is the sight with what a test saw of it.
func (s sight) as(text string) Seen {
	role, by := s.machine.Purpose()
	return Seen{Machine: s.machine.Name, Role: role, By: by, Text: text}
}

// standing is whether the machine is one of the cluster: Ready, its boot ended, with which services, and its versions.
func (s sight) standing() string {
	words := []string{"no Node"}
	if node := s.machine.Running.Node; node != nil {
		words = []string{map[string]string{"True": "Ready"}[node.Ready()]}
		if words[0] == "" {
			words[0] = "not Ready"
		}
	}
	words = append(words, "stage "+cmp.Or(s.stage, "not known"))
	if s.asked {
		words = append(words, "runs "+cmp.Or(strings.Join(s.up, " "), "no service of an extension"))
	}
	words = append(words, "Talos "+cmp.Or(string(s.machine.TalosVersion), "not known"))
	if s.machine.KubernetesVersion != "" {
		words = append(words, "kubelet "+string(s.machine.KubernetesVersion))
	}
	return strings.Join(words, ", ")
}

// image is what is in the machine's image.
func (s sight) image() string {
	if !s.machine.ExtensionsKnown {
		return "extensions not known"
	}
	text := "extensions " + cmp.Or(strings.Join(s.machine.Extensions, " "), "none")
	if schematic := s.machine.Running.Schematic; schematic != "" {
		text += fmt.Sprintf(", schematic %.12s", schematic)
	}
	if _, configured := s.machine.ServiceConfig(vpn); configured {
		text += ", a configuration of " + vpn
	}
	return text
}

// vpn is the extension of gateways, and the name of its service.
const vpn = "tailscale"

// routing is what a machine routes; empty for one that has nothing of the VPN.
func (s sight) routing() string {
	settings, configured := s.machine.ServiceConfig(vpn)
	role, _ := s.machine.Purpose()
	switch {
	case !configured && role != "gateway" && !s.machine.HasExtension(vpn):
		return ""
	case s.machine.Config == nil:
		return "routes not known"
	}
	routes := "nothing"
	for _, line := range settings {
		if value, is := strings.CutPrefix(line, "TS_ROUTES="); is && value != "" {
			routes = value
		}
	}
	return fmt.Sprintf("advertises %s, the cluster's networks are %s", routes, s.network)
}
