// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// trust are the rules about whom machines trust.
func trust() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "SEC-012", Title: "the Talos API gives everybody only what he needs",
			Question: "Can a pod, or an ordinary user, do everything to a machine? Without roles every credential is an administrator's, and access from pods with os:admin makes everybody who can start a pod there an administrator of the machines.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config}, Remedy: "leave RBAC on, and give pods os:reader, or os:etcd:backup, in one namespace of their own",
			Sources: []string{"T"}, Judge: roles,
		},
		{
			ID: "SEC-013", Title: "images come over connections that are verified",
			Question: "Could somebody on the way put another image in place? Without TLS, or with TLS that is not verified, whoever is in the network decides what runs on the machine.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config}, Remedy: "give the registry a certificate and the machine its authority (RegistryTLSConfig, TrustedRootsConfig)",
			Sources: []string{"T"}, Judge: registries,
		},
		{
			ID: "SEC-014", Title: "images of Kubernetes, and of one's own registry, are verified by signature",
			Question: "Would a machine notice an image that was exchanged in the registry? From Talos 1.13 it can check who signed an image before it runs it.",
			Severity: rule.Warning, Production: true, Inputs: []facts.Input{facts.Config}, Remedy: "add an ImageVerificationConfig with rules for registry.k8s.io and for your own registry; deny or skip what nobody signs, knowingly",
			Sources: []string{"T"}, Judge: verified,
		},
		{
			ID: "SEC-015", Title: "installers and extensions of one's own are named by digest, and are signed",
			Question: "Is what was tested what is installed? A tag can be moved to another image tomorrow; a digest cannot.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Schematic, facts.Config}, Remedy: "name the image with @sha256:…, and verify it with cosign",
			Sources: []string{"T"}, Judge: pinned,
		},
	}
}

// firewall are the rules about what machines let in.
func firewall() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "SEC-016", Title: "machines with public addresses have a firewall that lets in what the cluster needs",
			Question: "Who can talk to the machine? On a public address everybody can try the kubelet, etcd and the Talos API; and a firewall that forgets a port takes the machine out of the cluster.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Config}, Remedy: "add a NetworkDefaultActionConfig with ingress: block, and a NetworkRuleConfig for each port, open to those who need it",
			Sources: []string{"T"}, Judge: guarded,
		},
	}
}

// workloads are the rules about what pods may do to machines.
func workloads() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "SEC-017", Title: "pods are held to the baseline unless a namespace is excepted by name",
			Question: "May any pod take over its machine? The baseline of Pod Security keeps pods from the host's files, network and processes; without it one careless chart is enough.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Config}, Remedy: "restore enforce: baseline, and except only namespaces whose software needs it",
			Sources: []string{"T"}, Judge: podSecurity,
		},
		{
			ID: "SEC-018", Title: "namespaces of software that needs privileges are labelled so",
			Question: "Will the pods of the storage, or of the GPU operator, be let in? With the baseline in force their namespace needs the label; without it the pods are refused, and nothing says so but the events.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Manifests}, Remedy: "label the namespace pod-security.kubernetes.io/enforce: privileged",
			Sources: []string{"T"}, Judge: privileged,
		},
		{
			ID: "SEC-019", Title: "workloads are isolated from the system, from Talos 1.14",
			Question: "Does a pod that breaks out of its container land beside the processes of the system? From 1.14 Talos can keep all containers in a space of their own; clusters that were made before do not have it until somebody says so.",
			Severity: rule.Info, Inputs: []facts.Input{facts.Config}, Remedy: "add a SecurityProfileConfig with workloadIsolation: true, or say why not (note workload-isolation)",
			Sources: []string{"T"}, Judge: isolated,
		},
		{
			ID: "SEC-020", Title: "the kernel's hardening is only weakened for an extension that needs it",
			Question: "Are settings left over from a guide that make attacks on the kernel easier? Talos sets the recommendations of the Kernel Self Protection Project; a few extensions need one of them undone, nobody else does.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Config, facts.Schematic}, Remedy: "remove the setting, or the extension that it was for is missing",
			Sources: []string{"T"}, Judge: hardened,
		},
		{
			ID: "SEC-021", Title: "machines with the thunderbolt extension are meant to have it",
			Question: "May whoever stands in front of the machine plug in a device that reads its memory? The extension authorises every Thunderbolt device by itself.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Schematic}, Remedy: "drop the extension, or say what it is for (note thunderbolt)",
			Sources: []string{"T"}, Judge: thunderbolt,
		},
		{
			ID: "SEC-023", Title: "the API server keeps a log of who did what",
			Question: "Can somebody find out later who deleted it? Without an audit policy the API server writes nothing down.",
			Severity: rule.Info, Inputs: []facts.Input{facts.Config}, Remedy: "set cluster.apiServer.auditPolicy, or add a KubeAuditPolicyConfig from 1.14",
			Sources: []string{"T"}, Judge: audited,
		},
	}
}
