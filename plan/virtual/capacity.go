// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/config"
)

// The annotations that the cluster autoscaler reads.
const (
	autoscalerMin       = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size"
	autoscalerMax       = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"
	autoscalerProvision = "cluster.x-k8s.io/autoscaling-options-maxnodeprovisiontime"
	autoscalerCapacity  = "capacity.cluster-autoscaler.kubernetes.io/"
)

// defaultProvision is how long a new machine may take to join, in seconds.
const defaultProvision = 1800

// What the kubelet is told where a pool says nothing: the same as in the machine configuration.
const (
	defaultHard = "7%"
	defaultPods = 110
)

// mebi is a mebibyte.
const mebi = 1 << 20

// autoscaling is what the autoscaler must know: the bounds, and what the first machine of an empty pool would be.
func (in Input) autoscaling(capacity map[string]resource.Quantity) map[string]string {
	bounds := in.Pool.Spec.Autoscaling
	provision := int32(defaultProvision)
	if bounds.ProvisionTimeoutSeconds != nil {
		provision = *bounds.ProvisionTimeoutSeconds
	}
	least := int32(0)
	if bounds.Min != nil {
		least = min(*bounds.Min, in.Granted)
	}
	found := map[string]string{
		autoscalerMin: strconv.Itoa(int(least)), autoscalerMax: strconv.Itoa(int(in.Granted)),
		autoscalerProvision: (time.Duration(provision) * time.Second).String(),
	}
	for key, annotation := range map[string]string{"cpu": "cpu", "memory": "memory", "pods": "maxPods", "ephemeral-storage": "ephemeral-disk"} {
		if amount, ok := capacity[key]; ok {
			found[autoscalerCapacity+annotation] = amount.String()
		}
	}
	if gpus := len(in.Pool.Spec.Machine.KubeVirt.GPUs); gpus > 0 {
		found[autoscalerCapacity+"gpu-type"], found[autoscalerCapacity+"gpu-count"] = in.gpu(), strconv.Itoa(gpus)
	}
	found[autoscalerCapacity+"labels"] = in.nodeLabels()
	if taints := in.nodeTaints(); taints != "" {
		found[autoscalerCapacity+"taints"] = taints
	}
	return found
}

// capacity is what one machine offers to pods, where its size is known: what the kubelet keeps is not part of it.
func (in Input) capacity() map[string]resource.Quantity {
	machine := in.Pool.Spec.Machine.KubeVirt
	offered := map[string]resource.Quantity{"ephemeral-storage": diskSize(machine), "pods": *resource.NewQuantity(defaultPods, resource.DecimalSI)}
	kubelet := &api.Kubelet{}
	if in.Pool.Spec.Config != nil && in.Pool.Spec.Config.Kubelet != nil {
		kubelet = in.Pool.Spec.Config.Kubelet
	}
	if kubelet.MaxPods != nil {
		offered["pods"] = *resource.NewQuantity(int64(*kubelet.MaxPods), resource.DecimalSI)
	}
	if len(machine.GPUs) > 0 {
		offered[in.gpu()] = *resource.NewQuantity(int64(len(machine.GPUs)), resource.DecimalSI)
	}
	if in.Size == nil {
		return offered
	}
	cpu, memory := in.Size.CPU.MilliValue(), in.Size.Memory.Value()
	for _, kept := range []*api.Resources{kubelet.SystemReserved, kubelet.KubeReserved} {
		if kept == nil {
			kept = share(in.Size)
		}
		cpu, memory = cpu-kept.CPU.MilliValue(), memory-kept.Memory.Value()
	}
	memory -= eviction(kubelet.EvictionHardMemory, in.Size.Memory.Value())
	offered["cpu"] = *resource.NewMilliQuantity(max(cpu, 0), resource.DecimalSI)
	offered["memory"] = *resource.NewQuantity(max(memory, 0)/mebi*mebi, resource.BinarySI)
	return offered
}

// share is what is kept of a machine, once for Talos and once for the kubelet, where a pool says nothing.
func share(of *api.Resources) *api.Resources {
	memory := min(max(of.Memory.Value()/20/mebi, 256), 1024)
	cpu := min(max(of.CPU.MilliValue()/20, 50), 500)
	return &api.Resources{CPU: *resource.NewMilliQuantity(cpu, resource.DecimalSI), Memory: *resource.NewQuantity(memory*mebi, resource.BinarySI)}
}

// eviction is the memory that must stay free, as an amount or a share.
func eviction(said string, of int64) int64 {
	if said == "" {
		said = defaultHard
	}
	if percent, isShare := strings.CutSuffix(said, "%"); isShare {
		number, err := strconv.ParseInt(percent, 10, 64)
		if err != nil {
			return 0
		}
		return of * number / 100
	}
	amount, err := resource.ParseQuantity(said)
	if err != nil {
		return 0
	}
	return amount.Value()
}

// gpu is the resource by which pods ask for a graphics processor.
func (in Input) gpu() string {
	vendor := api.GPUVendor("")
	if in.Role.Spec.Hardware != nil {
		vendor = in.Role.Spec.Hardware.GPU
	}
	switch vendor {
	case api.GPUNVIDIA:
		return "nvidia.com/gpu"
	case api.GPUAMD:
		return "amd.com/gpu"
	case api.GPUIntel:
		return "gpu.intel.com/i915"
	}
	domain, _, _ := strings.Cut(in.Pool.Spec.Machine.KubeVirt.GPUs[0].DeviceName, "/")
	return domain + "/gpu"
}

// nodeLabels are those that a Node of the pool will have, as far as the declarations say.
func (in Input) nodeLabels() string {
	architecture := string(cmp.Or(in.Pool.Spec.Architecture, api.AMD64))
	found := map[string]string{roleLabel + string(in.Pool.Spec.Role): "", "kubernetes.io/arch": architecture, "kubernetes.io/os": "linux"}
	if zone := in.Location.Place().Zone; zone != "" {
		found["topology.kubernetes.io/zone"] = zone
	}
	maps.Copy(found, config.Labels(in.Role, in.Pool))
	return labelText(found)
}

// nodeTaints are the same for taints. The pool's stand above the role's of the same key.
func (in Input) nodeTaints() string {
	found := map[string]api.Taint{}
	for _, taint := range in.Role.Spec.Taints {
		found[taint.Key] = taint
	}
	if in.Pool.Spec.Config != nil {
		for _, taint := range in.Pool.Spec.Config.Taints {
			found[taint.Key] = taint
		}
	}
	var all []string
	for _, key := range slices.Sorted(maps.Keys(found)) {
		all = append(all, fmt.Sprintf("%s=%s:%s", key, found[key].Value, found[key].Effect))
	}
	return strings.Join(all, ",")
}
