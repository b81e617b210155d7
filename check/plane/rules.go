// SPDX-License-Identifier: Apache-2.0

// Package plane has the rules about control planes on Talos machines: how many, what they carry, how they are reached, and etcd.
package plane

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
	return rule.Set(examples, slices.Concat(number(), sharing(), endpoint(), virtual(), agreement(), etcd())...)
}

// Inputs that several rules share.
var (
	ofEither = []facts.Input{facts.Spec, facts.Config}
	ofConfig = []facts.Input{facts.Config}
)

// number are the rules about how many there are.
func number() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "CPL-001", Title: "the number of control planes is odd", Availability: true,
			Question: "Does etcd gain anything from the last machine? It needs more than half of its members: four survive the loss of one, just as three do, and are more to lose.",
			Severity: rule.Error, Inputs: ofEither, Remedy: "have one, three or five control planes",
			Sources: []string{"D2", "C2"}, Judge: odd,
		},
		{
			ID: "CPL-002", Title: "there are at least three control planes", Production: true, Availability: true,
			Question: "Does the cluster survive the loss of a machine? etcd of a cluster with one or two control planes does not: the API is gone, and with one the data as well.",
			Severity: rule.Error, Inputs: ofEither, Remedy: "have three control planes",
			Sources: []string{"D2", "A6"}, Judge: three,
		},
		{
			ID: "CPL-003", Title: "there are at most five control planes", Availability: true,
			Question: "Is etcd slowed down by its own size? Every write waits for more than half of the members.",
			Severity: rule.Warning, Inputs: ofEither, Remedy: "use three or five, and make the others workers",
			Sources: []string{"D2"}, Judge: five,
		},
		{
			ID: "CPL-004", Title: "five control planes have a reason", Availability: true,
			Question: "Why five? They cost two machines and slower writes, and pay for surviving two losses at once, which large clusters need.",
			Severity: rule.Info, Inputs: ofEither, Remedy: "use three, or note the need: check.minos.dev/survive-two-failures",
			Sources: []string{"D2"}, Judge: reason,
		},
		{
			ID: "CPL-014", Title: "control planes are spread over three zones, where zones are declared", Availability: true,
			Question: "Does the cluster survive the loss of a zone? With two zones the one that has more members takes the quorum with it.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Spec}, Remedy: "put control planes into pools of three places with different zones",
			Sources: []string{"D2"}, Judge: spread,
		},
	}
}

// sharing are the rules about workloads on control planes.
func sharing() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "CPL-005", Title: "control planes carry no workloads where there are workers", Production: true,
			Question: "Can a workload starve the API server or etcd? On the same machine it can.",
			Severity: rule.Warning, Inputs: ofConfig, Remedy: "remove allowSchedulingOnControlPlanes, or add the taint node-role.kubernetes.io/control-plane in a KubeNodeConfig",
			Sources: []string{"D2"}, Judge: apart,
		},
		{
			ID: "CPL-006", Title: "control planes carry workloads where there are no workers",
			Question: "Where would a workload run? Without workers and without permission on control planes everything stays Pending.",
			Severity: rule.Error, Inputs: ofConfig, Remedy: "set allowSchedulingOnControlPlanes: true (controlPlane.talos.workloads: Allowed), or add workers",
			Sources: []string{"D2", "T"}, Judge: together,
		},
		{
			ID: "CPL-007", Title: "control planes that carry workloads keep something for themselves",
			Question: "Is there memory left for etcd when workloads take all they can? The kubelet keeps what is reserved.",
			Severity: rule.Info, Inputs: ofConfig, Remedy: "set systemReserved of the kubelet",
			Sources: []string{"D2"}, Judge: reserved,
		},
	}
}

// endpoint are the rules about how the API server is reached.
func endpoint() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "CPL-008", Title: "the endpoint of several control planes is not one machine", Availability: true,
			Question: "Do machines and people reach the API server when a control plane is away? If the endpoint is its address, they do not, however many others there are.",
			Severity: rule.Error, Inputs: ofEither, Remedy: "use a virtual IP, a load balancer, or a name with several addresses",
			Sources: []string{"C10"}, Judge: notOne,
		},
		{
			ID: "CPL-009", Title: "the endpoint is served by https and reached without a proxy",
			Question: "Does a machine reach the API server, and trust what answers? An endpoint without https is not served, and a proxy in between takes part in every join, if it lets one through at all.",
			Severity: rule.Warning, Inputs: ofConfig, Remedy: "use https, and name the host in no_proxy",
			Sources: []string{"C10", "T"}, Judge: direct,
		},
		{
			ID: "CPL-012", Title: "a talosconfig leads to machines, and not to the virtual IP",
			Question: "Can the machines be administered when etcd is down? The virtual IP is held by etcd's leader election: without etcd nobody has it.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Tree}, Remedy: "list the addresses of the control planes as endpoints",
			Sources: []string{"T"}, Judge: toMachines,
		},
	}
}

// virtual are the rules about virtual IPs.
func virtual() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "CPL-010", Title: "a virtual IP is in the network of all control planes, the same on all, and nobody else's",
			Question: "Can every control plane take over the address? It is announced in a network: a control plane that is not in it cannot, and a worker must not.",
			Severity: rule.Error, Inputs: ofConfig, Remedy: "choose a free address of the network that the control planes share, and set it on all of them and on no worker",
			Sources: []string{"C10", "T"}, Judge: shared,
		},
		{
			ID: "CPL-011", Title: "the virtual IP is not taken for an address of a machine",
			Question: "Could a kubelet or etcd register the virtual IP as its own? It moves to another machine, and then that is reached instead.",
			Severity: rule.Info, Inputs: ofConfig, Remedy: "exclude it with an exclamation mark: validSubnets: [192.0.2.0/24, \"!192.0.2.10/32\"]",
			Sources: []string{"T", "siderolabs/talos#4318"}, Judge: excluded,
		},
	}
}

// agreement are the rules about what all machines of a cluster share.
func agreement() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "CPL-013", Title: "all machines of a cluster agree who they are",
			Question: "Would all these machines meet in one cluster? With another authority, identity, endpoint or network a machine does not join, or joins and is not reached.",
			Severity: rule.Error, Inputs: ofConfig, Remedy: "make the configurations anew from one secrets bundle",
			Sources: []string{"T"}, Judge: agreed,
		},
	}
}

// etcd are the rules about etcd.
func etcd() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "CPL-015", Title: "etcd has as many members as there are control planes, and is well",
			Question: "Is etcd whole? A member that is missing, still learning or raises an alarm means that the next loss is the last.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Live}, Reads: []string{facts.LiveNodes, facts.LiveEtcdMembers, facts.LiveDiagnostics}, Remedy: "remove members that are gone ('talosctl etcd remove-member'), clear alarms when their cause is",
			Sources: []string{"F4"}, Judge: whole,
		},
		{
			ID: "CPL-016", Title: "etcd is on a fast disk",
			Question: "Does every write of the cluster wait for a slow disk? etcd waits until the disk has it: a spinning disk, a card or a stick makes leaders change and the API slow.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Live, facts.Spec}, Reads: []string{facts.LiveDisks, facts.LiveSystemDisks}, Remedy: "install on an SSD; from Talos 1.14 a VolumeConfig can put ETCD on a disk of its own",
			Sources: []string{"T"}, Judge: fast,
		},
		{
			ID: "CPL-017", Title: "etcd's quota fits what is kept in it",
			Question: "Does etcd refuse writes one day? At its quota it does; software that keeps much in the API, such as LINSTOR, needs more than 2 GiB, and more than 8 GiB is not supported.",
			Severity: rule.Info, Inputs: ofConfig, Remedy: "set quota-backend-bytes in cluster.etcd.extraArgs, to 8 GiB at most",
			Sources: []string{"T"}, Judge: quota,
		},
	}
}
