// SPDX-License-Identifier: Apache-2.0

// Package roles has the rules about what machines are for: which role they have, how many of one there may be, and the gateways that
// lead into a cluster's networks.
package roles

import (
	"embed"
	"slices"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

//go:embed examples
var examples embed.FS

// Rules returns the rules.
func Rules() []*rule.Rule {
	return rule.Set(examples, slices.Concat(roles(), isolation(), routing(), gateways())...)
}

// Inputs that several rules share.
var (
	ofDeclared = []facts.Input{facts.Spec}
	ofMachines = []facts.Input{facts.Config, facts.Schematic}
	ofConfig   = []facts.Input{facts.Config}
)

// roles are the rules about roles as such.
func roles() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "ROL-001", Title: "every machine has one role, and the role is defined",
			Question: "What is the machine for? Its image follows from its role: without one, or with one that nobody defined, there is no image.",
			Severity: rule.Error, Inputs: ofDeclared, Remedy: "name one of 'minos role list', or declare the role",
			Sources: []string{"ADR"}, Judge: defined,
		},
		{
			ID: "ROL-002", Title: "a cluster has as many machines of a role as the role allows",
			Question: "Do two machines do what only one may? A role for one machine, doubled by accident, gives two ways into the networks with settings of their own.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Spec, facts.Config}, Remedy: "have one machine of the role, or a role with perCluster: HA",
			Sources: []string{"ADR"}, Judge: counted,
		},
		{
			ID: "ROL-005", Title: "a gateway is a compute machine with something added",
			Question: "Do workloads find the same on every machine? Roles that build on one base differ by what they add, and by nothing else.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Schematic}, Remedy: "let the gateway's role extend the compute role",
			Sources: []string{"ADR"}, Judge: based,
		},
		{
			ID: "ROL-012", Title: "the machines of every role end their boot",
			Question: "Would a cluster of these machines form? A machine whose boot waits for a service that never comes reboots every 70 minutes, while its Node looks Ready.",
			Severity: rule.Error, Inputs: ofMachines, Remedy: "the findings of EXT-003 and EXT-005 name what is missing; 'minos image boot' shows the whole boot",
			Sources: []string{"ADR test 02"}, Judge: boots,
		},
		{
			ID: "ROL-013", Title: "machines have the hardware that their role needs",
			Question: "Is the processor there that the image is made for? An image with NVIDIA's drivers on a machine without such a processor never ends its boot.",
			Severity: rule.Error, Inputs: ofDeclared, Remedy: "give the pool machines with that hardware, or another role",
			Sources: []string{"T", "siderolabs/extensions#888"}, Judge: equipped,
		},
	}
}

// isolation are the rules about keeping the gateway's things on gateways.
func isolation() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "ROL-003", Title: "in a cluster without a gateway no machine has the gateway's extension",
			Question: "Does a machine wait for settings that nobody will give it? The extension of a VPN waits for its configuration during boot.",
			Severity: rule.Error, Inputs: ofMachines, Remedy: "remove tailscale from the role",
			Sources: []string{"ADR test 01"}, Judge: computeOnly,
		},
		{
			ID: "ROL-004", Title: "what is for gateways is on gateways only",
			Question: "Is a machine a way into the cluster that nobody meant to be one? An extension that is installed is always active.",
			Severity: rule.Error, Inputs: ofMachines, Remedy: "remove the extension and its ExtensionServiceConfig from the other roles",
			Sources: []string{"ADR test 04"}, Judge: isolated,
		},
	}
}

// routing are the rules about routes.
func routing() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "ROL-006", Title: "a gateway advertises the networks of its own cluster",
			Question: "Are pods and services reached through the gateway? Routes that are not the cluster's lead nowhere, or into another cluster.",
			Severity: rule.Error, Inputs: ofConfig, Remedy: "set TS_ROUTES to the pod and service networks of the cluster; a role of Minos takes them from the cluster",
			Sources: []string{"ADR test 03"}, Judge: routes,
		},
		{
			ID: "ROL-007", Title: "only gateways advertise routes, and all of them the same",
			Question: "Which way does a packet go? Several gateways with the same routes stand in for each other; with routes of different length the longer one wins, also when its gateway is gone.",
			Severity: rule.Error, Inputs: ofConfig, Remedy: "remove TS_ROUTES from other machines, and give all gateways the same prefixes",
			Sources: []string{"ADR", "T"}, Judge: alike,
		},
		{
			ID: "ROL-008", Title: "a gateway takes no routes and no names from the VPN, unless that is meant",
			Question: "Can somebody in the VPN lead the machine's traffic elsewhere? Accepted routes and names change how a node of the cluster reaches others.",
			Severity: rule.Warning, Inputs: ofConfig, Remedy: "set TS_ACCEPT_DNS=false and remove --accept-routes, or note why: check.minos.dev/gateway-accepts",
			Sources: []string{"T"}, Judge: deaf,
		},
	}
}

// gateways are the rules about gateways as machines.
func gateways() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "ROL-009", Title: "a gateway is not a control plane", Production: true,
			Question: "Is the way in from outside on the machine that holds all secrets? Its VPN address may also become that of etcd.",
			Severity: rule.Warning, Inputs: ofMachines, Remedy: "use a worker",
			Sources: []string{"T"}, Judge: apart,
		},
		{
			ID: "ROL-010", Title: "a gateway comes back by itself after a restart, under its own name",
			Question: "Does the gateway work after a reboot a year from now? A key that is asked for again may have expired, and a machine without a name of its own appears as a new one.",
			Severity: rule.Warning, Inputs: ofConfig, Remedy: "set TS_AUTH_ONCE=true and TS_HOSTNAME, and note what kind of key it is: check.minos.dev/gateway-key",
			Sources: []string{"T"}, Judge: lasting,
		},
		{
			ID: "ROL-011", Title: "somebody knows that a single gateway is a single way in", Production: true, Availability: true,
			Question: "How is the cluster reached when the gateway is away? With several, another takes over in some 15 seconds.",
			Severity: rule.Info, Inputs: ofMachines, Remedy: "use a role with perCluster: HA, or note that one is enough: check.minos.dev/single-gateway",
			Sources: []string{"T"}, Judge: single,
		},
	}
}
