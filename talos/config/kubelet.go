// SPDX-License-Identifier: Apache-2.0

package config

import (
	"cmp"

	api "minos.dev/minos/api/v1alpha1"
)

// kubelet sets what a pool says of its kubelet.
func (s *setter) kubelet(kubelet *api.Kubelet) {
	if kubelet == nil {
		return
	}
	settings := kubeletSettings(kubelet)
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
func kubeletSettings(kubelet *api.Kubelet) document {
	settings := document{}
	if kubelet.SystemReserved != nil {
		settings["systemReserved"] = reserved(*kubelet.SystemReserved)
	}
	if kubelet.KubeReserved != nil {
		settings["kubeReserved"] = reserved(*kubelet.KubeReserved)
	}
	if kubelet.MaxPods != nil {
		settings["maxPods"] = int64(*kubelet.MaxPods)
	}
	if kubelet.EvictionHardMemory != "" || kubelet.EvictionSoftMemory != "" {
		evictions(settings, kubelet)
	}
	return settings
}

// reserved is an amount as the kubelet writes it.
func reserved(resources api.Resources) document {
	return document{"cpu": resources.CPU.String(), "memory": resources.Memory.String()}
}

// evictions sets when pods are evicted. Setting one signal drops the kubelet's defaults of all others, so all are said
// again.
func evictions(settings document, kubelet *api.Kubelet) {
	settings["evictionHard"] = document{
		"memory.available": cmp.Or(kubelet.EvictionHardMemory, "7%"), "nodefs.available": "10%", "imagefs.available": "15%",
		"nodefs.inodesFree": "5%", "imagefs.inodesFree": "5%",
	}
	settings["evictionSoft"] = document{
		"memory.available": cmp.Or(kubelet.EvictionSoftMemory, "10%"), "nodefs.available": "15%", "imagefs.available": "20%",
	}
	settings["evictionSoftGracePeriod"] = document{
		"memory.available": "1m30s", "nodefs.available": "1m30s", "imagefs.available": "1m30s",
	}
}
