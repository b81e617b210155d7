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

// NodeLabels is the argument by which a kubelet registers its Node with labels. It has no say about them afterwards.
const NodeLabels = "node-labels"

// BirthLabel is on the Nodes of Cluster API's machines, from their kubelets: the cluster's UID. A Node that registers while its machine
// is being removed is known to nobody else, and would stay for ever.
const BirthLabel = "minos.dev/born-of"

// labelled puts the labels of role and pool on the Node, and returns the kubelet's settings. A machine of Cluster API cannot be
// told of others while it runs: its kubelet registers the Node with them, and they are changed on the Node from then on. Talos
// would put back what it knows.
func labelled(in Input, role, pool *setter) *api.Kubelet {
	user := in.Pool.Spec.Config
	if user == nil {
		user = &api.PoolConfig{}
	}
	if in.Pool.Spec.Machine.KubeVirt == nil {
		role.labels(in.Role.Spec.Labels)
		pool.labels(user.Labels)
		return user.Kubelet
	}
	all := Labels(in.Role, in.Pool)
	if in.Cluster.UID != "" {
		all[BirthLabel] = string(in.Cluster.UID)
	}
	if len(all) == 0 {
		return user.Kubelet
	}
	kubelet := &api.Kubelet{}
	if user.Kubelet != nil {
		kubelet = user.Kubelet.DeepCopy()
	}
	var texts []string
	for _, label := range slices.Sorted(maps.Keys(all)) {
		texts = append(texts, label+"="+all[label])
	}
	if own := kubelet.ExtraArgs[NodeLabels]; own != "" {
		texts = append(texts, own)
	}
	kubelet.ExtraArgs = maps.Clone(kubelet.ExtraArgs)
	if kubelet.ExtraArgs == nil {
		kubelet.ExtraArgs = map[string]string{}
	}
	kubelet.ExtraArgs[NodeLabels] = strings.Join(texts, ",")
	return kubelet
}

// Labels are those that a role and a pool want on a Node. The pool's stand above the role's.
func Labels(role *api.NodeRole, pool *api.NodePool) map[string]string {
	all := map[string]string{}
	maps.Copy(all, role.Spec.Labels)
	if pool.Spec.Config != nil {
		maps.Copy(all, pool.Spec.Config.Labels)
	}
	return all
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
