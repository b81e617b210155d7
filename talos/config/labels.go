// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
)

// kubeletMay are the labels of Kubernetes's own domains that a kubelet may set on its Node: whole, or everything below
// where it ends in a slash.
var kubeletMay = []string{
	"kubernetes.io/hostname", "kubernetes.io/arch", "kubernetes.io/os", "beta.kubernetes.io/arch", "beta.kubernetes.io/os",
	"beta.kubernetes.io/instance-type", "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
	"failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region",
	"node.kubernetes.io/", "kubelet.kubernetes.io/",
}

// checkLabels refuses labels that the API server would not let a worker put on its own Node. Talos applies all labels in one
// write, so that one such label holds back all others. A control-plane machine writes as an administrator and may.
func checkLabels(layer string, labels map[string]string, machine api.MachineType) error {
	if machine == api.MachineControlPlane {
		return nil
	}
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		if restricted(label) {
			return fmt.Errorf("%s layer: label %q: a worker may not put it on its own Node, and with it none of its labels would arrive; use a name of your own, such as example.com/%s",
				layer, label, label[strings.LastIndex(label, "/")+1:])
		}
	}
	return nil
}

// restricted says whether a kubelet may not set a label.
func restricted(label string) bool {
	domain, _, found := strings.Cut(label, "/")
	if !found || !within(domain, "kubernetes.io") && !within(domain, "k8s.io") {
		return false
	}
	return !slices.ContainsFunc(kubeletMay, func(may string) bool {
		if below, isDomain := strings.CutSuffix(may, "/"); isDomain {
			return within(domain, below)
		}
		return label == may
	})
}

// within says whether a domain is another or below it.
func within(domain, of string) bool {
	return domain == of || strings.HasSuffix(domain, "."+of)
}
