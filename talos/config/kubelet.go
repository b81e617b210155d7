// SPDX-License-Identifier: Apache-2.0

package config

import (
	"cmp"

	"k8s.io/apimachinery/pkg/api/resource"

	api "minos.dev/minos/api/v1alpha1"
)

// kubelet sets what a pool says of its kubelet, and for machines whose size is known what it does not say.
func (s *setter) kubelet(kubelet *api.Kubelet, capacity *api.Resources) {
	if kubelet == nil && capacity == nil {
		return
	}
	if kubelet == nil {
		kubelet = &api.Kubelet{}
	}
	settings := kubeletSettings(kubelet, capacity)
	if s.contract.MultidocKubernetesConfigSupported() {
		fields := document{}
		if len(settings) > 0 {
			fields["config"] = settings
		}
		if len(kubelet.ExtraArgs) > 0 {
			fields["extraArgs"] = kubelet.ExtraArgs
		}
		s.add("KubeletConfig", fields)
		return
	}
	if len(settings) > 0 {
		s.field(settings, "machine", "kubelet", "extraConfig")
	}
	if len(kubelet.ExtraArgs) > 0 {
		s.field(kubelet.ExtraArgs, "machine", "kubelet", "extraArgs")
	}
}

// kubeletSettings are the fields of the kubelet's own configuration.
func kubeletSettings(kubelet *api.Kubelet, capacity *api.Resources) document {
	settings := document{}
	if share := cmp.Or(kubelet.SystemReserved, shareOf(capacity)); share != nil {
		settings["systemReserved"] = reserved(*share)
	}
	if share := cmp.Or(kubelet.KubeReserved, shareOf(capacity)); share != nil {
		settings["kubeReserved"] = reserved(*share)
	}
	if kubelet.MaxPods != nil {
		settings["maxPods"] = int64(*kubelet.MaxPods)
	}
	if kubelet.EvictionHardMemory != "" || kubelet.EvictionSoftMemory != "" || capacity != nil {
		evictions(settings, kubelet)
	}
	return settings
}

// shareOf is what is kept of a machine, once for Talos and once for the kubelet: 5%, but never so little that a small
// machine runs out of memory before it evicts anything, and never so much that a large one idles.
func shareOf(capacity *api.Resources) *api.Resources {
	if capacity == nil {
		return nil
	}
	const mebi = 1 << 20
	memory := min(max(capacity.Memory.Value()/20/mebi, 256), 1024)
	cpu := min(max(capacity.CPU.MilliValue()/20, 50), 500)
	return &api.Resources{CPU: *resource.NewMilliQuantity(cpu, resource.DecimalSI), Memory: *resource.NewQuantity(memory*mebi, resource.BinarySI)}
}

// reserved is an amount as the kubelet writes it.
func reserved(resources api.Resources) document {
	return document{"cpu": resources.CPU.String(), "memory": resources.Memory.String()}
}

// evictions sets when pods are evicted. Setting one signal drops the kubelet's defaults of all others, so all are said
// again.
func evictions(settings document, kubelet *api.Kubelet) {
	settings["evictionHard"] = document{
		"memory.available": cmp.Or(kubelet.EvictionHardMemory, defaultHard), "nodefs.available": "10%", "imagefs.available": "15%",
		"nodefs.inodesFree": "5%", "imagefs.inodesFree": "5%",
	}
	settings["evictionSoft"] = document{
		"memory.available": cmp.Or(kubelet.EvictionSoftMemory, defaultSoft), "nodefs.available": "15%", "imagefs.available": "20%",
	}
	settings["evictionSoftGracePeriod"] = document{
		"memory.available": "1m30s", "nodefs.available": "1m30s", "imagefs.available": "1m30s",
	}
	settings["evictionMinimumReclaim"] = document{"memory.available": "256Mi"} // or the next pod is evicted at once
}
