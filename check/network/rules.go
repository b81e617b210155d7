// SPDX-License-Identifier: Apache-2.0

// Package network has the rules about the networks of a cluster: the pod network, how machines find the API server, and addresses.
package network

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
	return rule.Set(examples, slices.Concat(podNetwork(), cilium(), finding(), addresses(), neighbours())...)
}

// Inputs that many rules share.
var (
	ofConfig    = []facts.Input{facts.Config}
	ofBoth      = []facts.Input{facts.Manifests, facts.Config}
	ofManifests = []facts.Input{facts.Manifests}
	ofDeclared  = []facts.Input{facts.Config, facts.Spec}
)

// podNetwork are the rules about which pod network there is.
func podNetwork() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "NET-001", Title: "the pod network is a choice that somebody made",
			Question: "Which pod network does the cluster have, and did anybody choose it? Flannel comes by itself, enforces no policies, and is hard to replace once workloads run.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Spec, facts.Config}, Remedy: "set spec.cni.provider, or cluster.network.cni.name in the machine configuration",
			Sources: []string{"D4", "C4"}, Judge: named,
		},
		{
			ID: "NET-002", Title: "a cluster without a pod network of Talos gets one from elsewhere",
			Question: "If Talos installs no pod network, who does? Without one no Node becomes Ready, and nothing says why.",
			Severity: rule.Error, Inputs: ofBoth, Remedy: "deliver the pod network: as an inline manifest, by cni.urls, or with what delivers the cluster's workloads",
			Sources: []string{"D4"}, Judge: delivered,
		},
		{
			ID: "NET-003", Title: "network policies are enforced by the pod network",
			Question: "Do the NetworkPolicy objects do anything? Plain Flannel ignores them: everything is open while the repository says that it is closed.",
			Severity: rule.Error, Inputs: ofBoth, Remedy: "use Cilium or Calico, or from Talos 1.13 set kubeNetworkPoliciesEnabled of Flannel",
			Sources: []string{"D4"}, Judge: enforced,
		},
		{
			ID: "NET-019", Title: "the manifest of a pod network is pinned",
			Question: "Would a machine that is installed next year get the same pod network? An address that follows a branch brings whatever is there on that day.",
			Severity: rule.Warning, Inputs: ofConfig, Remedy: "use an address with a version or a commit in it",
			Sources: []string{"D4"}, Judge: pinned,
		},
	}
}

// cilium are the rules about Cilium on Talos.
func cilium() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "NET-004", Title: "Cilium replaces kube-proxy exactly when Talos does not run it",
			Question: "Is there exactly one that makes Services work? With none of the two no Service is reached, and with both they fight over the rules.",
			Severity: rule.Error, Inputs: ofBoth, Remedy: "set kubeProxyReplacement of Cilium and cluster.proxy.disabled of Talos to the same",
			Sources: []string{"D4", "T"}, Judge: oneProxy,
		},
		{
			ID: "NET-005", Title: "Cilium reaches the API server through KubePrism",
			Question: "Can Cilium start before Services work? It needs the API server for that, and KubePrism is the address on every machine that always leads to one.",
			Severity: rule.Warning, Inputs: ofBoth, Remedy: "set k8sServiceHost: localhost and k8sServicePort to KubePrism's port, 7445",
			Sources: []string{"T"}, Judge: throughPrism,
		},
		{
			ID: "NET-006", Title: "Cilium leaves to Talos what Talos does itself",
			Question: "Would Cilium's pods start on Talos? The root file system is read-only, control groups are mounted already, and no pod may load kernel modules.",
			Severity: rule.Error, Inputs: ofManifests, Remedy: "set ipam.mode: kubernetes, cgroup.autoMount.enabled: false, cgroup.hostRoot: /sys/fs/cgroup, and no SYS_MODULE among the capabilities",
			Sources: []string{"T"}, Judge: fitting,
		},
		{
			ID: "NET-007", Title: "host DNS for pods and Cilium's BPF masquerading are not both on",
			Question: "Do names resolve in pods? With both on, answers of the host's DNS do not come back to pods.",
			Severity: rule.Error, Inputs: ofBoth, Remedy: "turn off forwardKubeDNSToHost, or bpf.masquerade of Cilium",
			Sources: []string{"T"}, Judge: oneOfBoth,
		},
	}
}

// finding are the rules about how machines find the API server and each other.
func finding() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "NET-008", Title: "pods are sent to the host's DNS only where it runs",
			Question: "Is there a DNS server where CoreDNS forwards to? Forwarding to the host's without running it leaves the cluster without names.",
			Severity: rule.Error, Inputs: ofConfig, Remedy: "set machine.features.hostDNS.enabled: true",
			Sources: []string{"T"}, Judge: hostDNS,
		},
		{
			ID: "NET-009", Title: "KubePrism is on",
			Question: "Do machines reach the API server when its usual address is away? KubePrism is an address on every machine that finds any living control plane.",
			Severity: rule.Warning, Inputs: ofConfig, Remedy: "set machine.features.kubePrism.enabled: true, or add a KubePrismConfig document",
			Sources: []string{"T"}, Judge: prism,
		},
		{
			ID: "NET-010", Title: "machines find each other, or need not",
			Question: "Does KubePrism know more than one control plane? It learns them from discovery; without discovery it has the endpoint alone, and KubeSpan does not work at all.",
			Severity: rule.Warning, Inputs: ofConfig, Remedy: "enable cluster.discovery, or give the endpoint a virtual IP or a load balancer and turn KubeSpan off",
			Sources: []string{"T"}, Judge: discovered,
		},
	}
}

// addresses are the rules about networks and addresses that must keep clear of each other.
func addresses() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "NET-011", Title: "networks of machines, pods, services and virtual IPs share no address",
			Question: "Does every address mean one thing? Where networks overlap, traffic to a machine goes to a pod, and Talos leaves such addresses out without a word.",
			Severity: rule.Error, Inputs: ofDeclared, Remedy: "renumber the one that is easiest to change; those of pods and services cannot change later",
			Sources: []string{"T"}, Judge: disjoint,
		},
		{
			ID: "NET-012", Title: "a machine with several networks says which address is its Node's",
			Question: "Which address does the kubelet register? With a VPN or a second network it may choose the wrong one, and the Node is not reached by others.",
			Severity: rule.Error, Inputs: ofDeclared, Remedy: "set machine.kubelet.nodeIP.validSubnets to the network that machines share",
			Sources: []string{"T", "siderolabs/extensions#1091"}, Judge: nodeAddress,
		},
		{
			ID: "NET-013", Title: "a control plane with several networks says which address is etcd's",
			Question: "By which address do members of etcd reach each other? One that advertises its VPN address loses the quorum when the VPN goes.",
			Severity: rule.Error, Inputs: ofConfig, Remedy: "set cluster.etcd.advertisedSubnets to the network that control planes share",
			Sources: []string{"T"}, Judge: etcdAddress,
		},
		{
			ID: "NET-014", Title: "the range of a mesh keeps clear of the default service network",
			Question: "Are addresses of the mesh reached? The default service network of Talos is 10.96.0.0/12, which spans 10.96 to 10.111: what is in it is taken for a Service.",
			Severity: rule.Error, Inputs: ofDeclared, Remedy: "choose another range for the mesh, or another service network when the cluster is made",
			Sources: []string{"T", "siderolabs/talos#13469"}, Judge: mesh,
		},
		{
			ID: "NET-015", Title: "with two address families, pods, services and machines have the same in the same order",
			Question: "Do Pods, Services and Nodes agree which family comes first? If not, the control plane refuses to start or Services get addresses that no Pod has.",
			Severity: rule.Error, Inputs: ofConfig, Remedy: "list the families in one order in podSubnets, serviceSubnets and nodeIP.validSubnets",
			Sources: []string{"T"}, Judge: families,
		},
		{
			ID: "NET-016", Title: "the pod network is large enough for the machines and their pods",
			Question: "Does every machine get a piece of the pod network, and every pod an address? A machine for which no piece is left never becomes Ready.",
			Severity: rule.Warning, Inputs: ofDeclared, Remedy: "choose a larger pod network when the cluster is made, a smaller piece per machine, or fewer pods per machine",
			Sources: []string{"T"}, Judge: roomy,
		},
	}
}

// neighbours are the rules about who else is on the network.
func neighbours() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "NET-017", Title: "one speaker of BGP talks to a router",
			Question: "Who announces routes of a machine? Calico, the bird2 extension and Talos's own BGP on one machine hold the same port and withdraw each other's routes.",
			Severity: rule.Warning, Inputs: ofBoth, Remedy: "keep one of them",
			Sources: []string{"D4"}, Judge: oneSpeaker,
		},
		{
			ID: "NET-018", Title: "time servers can be reached by the machine's addresses",
			Question: "Does the machine get the time? Without it Talos waits at boot, and certificates are not valid yet or no longer.",
			Severity: rule.Warning, Inputs: ofDeclared, Remedy: "name time servers of the address family that machines have, or by a host name that has both",
			Sources: []string{"T"}, Judge: timed,
		},
	}
}
