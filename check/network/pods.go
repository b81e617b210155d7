// SPDX-License-Identifier: Apache-2.0

package network

import (
	"regexp"
	"slices"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// The ways in which a pod network comes.
const (
	byTalos  = "flannel" // Talos installs it
	byURL    = "custom"  // Talos applies manifests from addresses
	byOthers = "none"    // somebody else does
)

// podNetworkOf is how a machine's cluster gets its pod network, and the addresses of its manifests.
func podNetworkOf(machine *facts.Machine) (way string, addresses []string) {
	raw := machine.Config.RawV1Alpha1()
	if raw != nil && raw.ClusterConfig != nil && raw.ClusterConfig.ClusterNetwork != nil && raw.ClusterConfig.ClusterNetwork.CNI != nil {
		own := raw.ClusterConfig.ClusterNetwork.CNI
		return own.CNIName, own.CNIUrls
	}
	if machine.Config.K8sFlannelCNIConfig() != nil {
		return byTalos, nil
	}
	return byOthers, nil
}

// planes are the machines whose configuration decides for their cluster: its control planes, as far as they can be read.
func planes(cluster *facts.Cluster) []*facts.Machine {
	return slices.DeleteFunc(cluster.ControlPlanes(), func(machine *facts.Machine) bool { return machine.Config == nil })
}

// named wants somebody to have chosen the pod network.
func named(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		_, decided := cluster.Decision(api.DecisionCNI)
		declared := cluster.Object != nil && cluster.Object.Spec.CNI != nil
		switch {
		case decided || declared || slices.ContainsFunc(cluster.Machines, namesOne):
			sheet.Pass(cluster.At("spec.cni"))
		case cluster.Object == nil && len(planes(cluster)) == 0:
			sheet.Unknown(cluster.At(""), "there is no configuration of a control plane of cluster %s, which is where the pod network is named", cluster.Title())
		default:
			sheet.Fail(cluster.At("spec.cni"), "nobody named the pod network of cluster %s, so that Talos installs Flannel", cluster.Title())
		}
	}
}

// namesOne says whether a configuration that was found as a file names the pod network itself.
func namesOne(machine *facts.Machine) bool {
	return slices.ContainsFunc(machine.Documents, func(document *facts.Document) bool {
		return document.String("cluster.network.cni.name") != "" || document.Kind() == "KubeFlannelCNIConfig"
	})
}

// providers are names by which a pod network is recognised in manifests.
var providers = regexp.MustCompile(`(?i)\b(cilium|calico|tigera|kube-ovn|antrea|flannel|weave)`)

// delivered wants somebody to bring the pod network where Talos does not.
func delivered(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		for _, machine := range planes(cluster) {
			way, addresses := podNetworkOf(machine)
			switch {
			case way == byTalos:
			case way == byURL && len(addresses) > 0, inline(machine), inTree(all):
				sheet.Pass(machine.At("cluster.network.cni"))
			case !all.Has(facts.Manifests):
				sheet.Unknown(machine.At("cluster.network.cni"), "%s gets no pod network from Talos, and there are no manifests here that would say who brings it", cluster.Title())
			default:
				sheet.Fail(machine.At("cluster.network.cni"), "%s gets no pod network from Talos, and nothing here brings one", cluster.Title())
			}
		}
	}
}

// inline says whether a machine's configuration brings a pod network in its manifests.
func inline(machine *facts.Machine) bool {
	for _, manifest := range machine.Config.K8sInlineManifestConfigs() {
		if providers.MatchString(manifest.Name()) || providers.MatchString(manifest.Contents()) {
			return true
		}
	}
	for _, manifest := range machine.Config.K8sExternalManifestConfigs() {
		if providers.MatchString(manifest.URL()) {
			return true
		}
	}
	return false
}

// inTree says whether manifests or Helm values of the folder bring a pod network.
func inTree(all *facts.Facts) bool {
	return slices.ContainsFunc(all.Values, func(values *facts.Values) bool { return providers.MatchString(values.Chart) }) ||
		slices.ContainsFunc(all.Manifests, func(manifest *facts.Document) bool {
			return manifest.Kind() == "DaemonSet" && providers.MatchString(manifest.Name()) || manifest.Kind() == "Installation" && strings.HasPrefix(manifest.APIVersion(), "operator.tigera.io/")
		})
}

// enforced wants policies to be enforced.
func enforced(all *facts.Facts, sheet *rule.Sheet) {
	var policies []*facts.Document
	for _, manifest := range all.Manifests {
		if manifest.Kind() == "NetworkPolicy" {
			policies = append(policies, manifest)
		}
	}
	if len(policies) == 0 {
		return
	}
	for _, cluster := range all.Clusters {
		for _, machine := range planes(cluster) {
			flannel := machine.Config.K8sFlannelCNIConfig()
			if way, _ := podNetworkOf(machine); way == byTalos && flannel != nil && !flannel.KubeNetworkPoliciesEnabled() {
				sheet.Fail(all.InDocument(policies[0], "kind"), "NetworkPolicy %s does nothing: the pod network of cluster %s is Flannel", policies[0].Name(), cluster.Title())
				continue
			}
			sheet.Pass(machine.At("cluster.network.cni"))
		}
	}
}

// moving is an address that follows a branch, or what is newest.
var moving = regexp.MustCompile(`/(main|master|latest|HEAD|develop)/`)

// pinned wants addresses of manifests of a pod network to stay.
func pinned(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		if machine.Config == nil {
			continue
		}
		_, addresses := podNetworkOf(machine)
		for _, address := range addresses {
			if moving.MatchString(address) {
				sheet.Fail(machine.At("cluster.network.cni.urls"), "%s follows what is newest: %s", machine.Name, address)
				continue
			}
			sheet.Pass(machine.At("cluster.network.cni.urls"))
		}
	}
}
