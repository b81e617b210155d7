// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"cmp"
	"errors"
	"fmt"

	api "minos.dev/minos/api/v1alpha1"
)

// virtualMachine is the specification of a virtual machine, in KubeVirt's words.
func (in Input) virtualMachine(volume fields) (fields, error) {
	machine := in.Pool.Spec.Machine.KubeVirt
	if err := checkSize(machine); err != nil {
		return nil, err
	}
	guest := fields{
		"architecture": string(cmp.Or(in.Pool.Spec.Architecture, api.AMD64)),
		"domain":       domain(machine),
		// The provider drains the Node and then restarts the machine elsewhere: its disk and its address stay.
		"evictionStrategy":          "External",
		"networks":                  []any{fields{"name": "default", "pod": fields{}}},
		"topologySpreadConstraints": in.constraints(),
		"volumes":                   []any{fields{"name": diskName, "dataVolume": fields{"name": volumeName}}},
	}
	if len(machine.NodeSelector) > 0 {
		guest["nodeSelector"] = texts(machine.NodeSelector)
	}
	made := fields{
		"runStrategy":         "Always",
		"dataVolumeTemplates": []any{volume},
		"template": fields{
			"metadata": fields{
				"labels":      texts(in.machineLabels()),
				"annotations": fields{"kubevirt.io/allow-pod-bridge-network-live-migration": "true"},
			},
			"spec": guest,
		},
	}
	if machine.Size.InstanceType != "" {
		made["instancetype"] = fields{"kind": InstancetypeKind.Kind, "name": machine.Size.InstanceType}
	}
	return made, nil
}

// checkSize refuses what KubeVirt would refuse, or take for something else.
func checkSize(machine *api.KubeVirtMachine) error {
	if size := machine.Size.Resources; size != nil && (size.CPU.MilliValue()%1000 != 0 || size.CPU.Sign() <= 0 || size.Memory.Sign() <= 0) {
		return fmt.Errorf("machine.kubevirt.size.resources: %s and %s: the processor is whole cores, and both are more than zero", size.CPU.String(), size.Memory.String())
	}
	return checkPod(machine)
}

// checkPod does the same for the bounds of the pod.
func checkPod(machine *api.KubeVirtMachine) error {
	pod := machine.PodCPU
	if pod == nil {
		return nil
	}
	if machine.Size.Resources == nil {
		return errors.New("machine.kubevirt.podCPU works with size.resources only, because KubeVirt refuses it beside an instance type: remove it, or give size.resources")
	}
	if pod.Limit != nil && pod.Limit.Sign() <= 0 || pod.Request != nil && pod.Request.Sign() <= 0 {
		return errors.New("machine.kubevirt.podCPU: request and limit must be more than zero, because KubeVirt replaces a zero by the limit")
	}
	if pod.Limit != nil && pod.Request != nil && pod.Request.Cmp(*pod.Limit) > 0 {
		return fmt.Errorf("machine.kubevirt.podCPU: request %s is more than limit %s: lower request or raise limit", pod.Request.String(), pod.Limit.String())
	}
	return nil
}

// domain is the hardware of a virtual machine.
func domain(machine *api.KubeVirtMachine) fields {
	made := fields{"devices": devices(machine)}
	if size := machine.Size.Resources; size != nil {
		made["cpu"] = fields{"cores": size.CPU.Value(), "sockets": int64(1), "threads": int64(1)}
		made["memory"] = fields{"guest": size.Memory.String()}
	}
	resources := fields{}
	if pod := machine.PodCPU; pod != nil && pod.Limit != nil {
		resources["limits"] = fields{"cpu": pod.Limit.String()}
	}
	if pod := machine.PodCPU; pod != nil && pod.Request != nil {
		resources["requests"] = fields{"cpu": pod.Request.String()}
	}
	if len(resources) > 0 {
		made["resources"] = resources
	}
	return made
}

// devices are the disk, the network and what the host lends.
func devices(machine *api.KubeVirtMachine) fields {
	made := fields{
		"disks": []any{fields{
			"name": diskName,
			// The address makes it /dev/vda, whatever the provider attaches beside it.
			"disk": fields{"bus": "virtio", "pciAddress": "0000:07:00.0"},
			// 512 so that the firmware boots from it; 4096 so that writes fit on disks with large sectors.
			"blockSize": fields{"custom": fields{"logical": int64(512), "physical": int64(4096)}},
		}},
		"interfaces":       []any{fields{"name": "default", "bridge": fields{}}},
		"logSerialConsole": cmp.Or(machine.SerialConsole, api.ConsoleLogged) == api.ConsoleLogged,
	}
	var gpus []any
	for at, gpu := range machine.GPUs {
		gpus = append(gpus, fields{"name": fmt.Sprintf("gpu%d", at+1), "deviceName": gpu.DeviceName})
	}
	if len(gpus) > 0 {
		made["gpus"] = gpus
	}
	return made
}

// constraints keep the pool's machines apart. Each has a selector of its own: one without would look at no machine.
func (in Input) constraints() []any {
	var made []any
	for _, each := range in.spread() {
		made = append(made, fields{
			"topologyKey": each.TopologyKey, "maxSkew": int64(each.MaxSkew), "whenUnsatisfiable": string(each.WhenUnsatisfiable),
			"labelSelector": in.selector(),
		})
	}
	return made
}
