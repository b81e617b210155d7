// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// values are the values of Cilium's chart.
func values(all *facts.Facts) []*facts.Values {
	var found []*facts.Values
	for _, one := range all.Values {
		if one.Chart == "cilium" {
			found = append(found, one)
		}
	}
	return found
}

// at is a value as a place in the environment of the folder.
func at(all *facts.Facts, values *facts.Values, path string) facts.Place {
	return all.InDocument(values.Document, values.Prefix+path)
}

// machines are those whose configuration can be read.
func machines(all *facts.Facts) []*facts.Machine {
	return slices.DeleteFunc(slices.Clone(all.Machines), func(machine *facts.Machine) bool { return machine.Config == nil })
}

// each judges Cilium's values beside the control planes that they are for.
func each(all *facts.Facts, sheet *rule.Sheet, judge func(*facts.Values, *facts.Machine)) {
	for _, one := range values(all) {
		found := slices.DeleteFunc(machines(all), func(machine *facts.Machine) bool { return !machine.ControlPlane })
		if len(found) == 0 {
			sheet.Unknown(at(all, one, ""), "there is no configuration of a control plane to compare Cilium's values with")
		}
		for _, machine := range found {
			judge(one, machine)
		}
	}
}

// oneProxy wants exactly one that makes Services work.
func oneProxy(all *facts.Facts, sheet *rule.Sheet) {
	each(all, sheet, func(one *facts.Values, machine *facts.Machine) {
		replaces := slices.Contains([]string{"true", "strict"}, one.String("kubeProxyReplacement"))
		proxy := machine.Config.K8sProxyConfig()
		runs := proxy != nil && proxy.Enabled()
		switch {
		case replaces && runs:
			sheet.Fail(at(all, one, "kubeProxyReplacement"), "Cilium replaces kube-proxy, and Talos runs it as well on %s", machine.Name)
		case !replaces && !runs:
			sheet.Fail(at(all, one, "kubeProxyReplacement"), "Cilium does not replace kube-proxy, and Talos does not run it on %s: no Service would work", machine.Name)
		default:
			sheet.Pass(at(all, one, "kubeProxyReplacement"))
		}
	})
}

// throughPrism wants Cilium to use KubePrism.
func throughPrism(all *facts.Facts, sheet *rule.Sheet) {
	each(all, sheet, func(one *facts.Values, machine *facts.Machine) {
		prism := machine.Config.K8sKubePrismConfig()
		if prism == nil {
			return // NET-009 says so
		}
		host, port := one.String("k8sServiceHost"), one.String("k8sServicePort")
		if (host == "localhost" || host == "127.0.0.1") && port == fmt.Sprint(prism.Port()) {
			sheet.Pass(at(all, one, "k8sServiceHost"))
			return
		}
		sheet.Fail(at(all, one, "k8sServiceHost"), "Cilium reaches the API server at %q:%q, and KubePrism is at localhost:%d", host, port, prism.Port())
	})
}

// fitting wants Cilium to leave to Talos what Talos does.
func fitting(all *facts.Facts, sheet *rule.Sheet) {
	for _, one := range values(all) {
		var wrong []string
		for path, wanted := range map[string]string{"ipam.mode": "kubernetes", "cgroup.autoMount.enabled": "false", "cgroup.hostRoot": "/sys/fs/cgroup"} {
			if own := one.String(path); own != wanted {
				wrong = append(wrong, fmt.Sprintf("%s is %q and must be %q", path, own, wanted))
			}
		}
		capabilities, _ := one.Get("securityContext.capabilities.ciliumAgent").([]any)
		if slices.Contains(capabilities, any("SYS_MODULE")) {
			wrong = append(wrong, "SYS_MODULE is among the capabilities, which Talos grants to no pod")
		}
		slices.Sort(wrong)
		if len(wrong) > 0 {
			sheet.Fail(at(all, one, "ipam"), "Cilium would not run on Talos: %s", strings.Join(wrong, "; "))
			continue
		}
		sheet.Pass(at(all, one, "ipam"))
	}
}

// oneOfBoth wants only one of two ways for names to be resolved.
func oneOfBoth(all *facts.Facts, sheet *rule.Sheet) {
	each(all, sheet, func(one *facts.Values, machine *facts.Machine) {
		dns := machine.Config.NetworkHostDNSConfig()
		if one.String("bpf.masquerade") == "true" && dns != nil && dns.ForwardKubeDNSToHost() {
			sheet.Fail(at(all, one, "bpf.masquerade"), "Cilium masquerades by BPF, and %s sends the names of pods to the host", machine.Name)
			return
		}
		sheet.Pass(at(all, one, "bpf.masquerade"))
	})
}
