// SPDX-License-Identifier: Apache-2.0

package kubevirt

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"minos.dev/minos/talos/image"
)

// configDrive is the platform whose Talos reads the drive that the provider attaches. Others find nothing there.
const configDrive = "openstack"

// A virtualMachine is what the simulation understands of a KubevirtMachine's template.
type virtualMachine struct {
	Spec struct {
		DataVolumeTemplates []struct {
			Spec struct {
				Source struct {
					HTTP struct {
						URL string `json:"url"`
					} `json:"http"`
				} `json:"source"`
			} `json:"spec"`
		} `json:"dataVolumeTemplates"`
		Instancetype struct {
			Name string `json:"name"`
		} `json:"instancetype"`
		Template struct {
			Spec struct {
				Domain domain `json:"domain"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

// A domain is the hardware of a virtual machine.
type domain struct {
	CPU struct {
		Cores   int64 `json:"cores"`
		Sockets int64 `json:"sockets"`
		Threads int64 `json:"threads"`
	} `json:"cpu"`
	Memory struct {
		Guest *resource.Quantity `json:"guest"`
	} `json:"memory"`
	Devices struct {
		GPUs []struct {
			DeviceName string `json:"deviceName"`
		} `json:"gpus"`
	} `json:"devices"`
}

// A guest is what a machine is made of.
type guest struct {
	image           image.Image
	cpus, memoryMiB int64
	devices         []string
}

// readGuest reads the template of a KubevirtMachine. A template that KubeVirt could not boot is an error.
func readGuest(object *unstructured.Unstructured) (guest, error) {
	template, found, err := unstructured.NestedMap(object.Object, "spec", "virtualMachineTemplate")
	if err != nil || !found {
		return guest{}, errors.Join(errors.New("spec.virtualMachineTemplate: there is none"), err)
	}
	var machine virtualMachine
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(template, &machine); err != nil {
		return guest{}, fmt.Errorf("spec.virtualMachineTemplate: %w", err)
	}
	if len(machine.Spec.DataVolumeTemplates) == 0 {
		return guest{}, errors.New("spec.virtualMachineTemplate.spec.dataVolumeTemplates: there is none, so nothing boots")
	}
	disk, err := image.ParseDisk(machine.Spec.DataVolumeTemplates[0].Spec.Source.HTTP.URL)
	if err != nil {
		return guest{}, fmt.Errorf("spec.virtualMachineTemplate.spec.dataVolumeTemplates[0].spec.source.http.url: %w", err)
	}
	made := guest{image: disk}
	made.cpus, made.memoryMiB = machine.Spec.Template.Spec.Domain.size(machine.Spec.Instancetype.Name)
	if len(machine.Spec.Template.Spec.Domain.Devices.GPUs) > 0 {
		made.devices = append(made.devices, "/sys/bus/pci/drivers/nvidia")
	}
	return made, nil
}

// sizes are KubeVirt's common instance types, in processors and MiB.
var sizes = map[string][2]int64{
	"nano": {1, 512}, "micro": {1, 1024}, "small": {1, 2048}, "medium": {1, 4096}, "large": {2, 8192},
	"xlarge": {4, 16384}, "2xlarge": {8, 32768}, "4xlarge": {16, 65536}, "8xlarge": {32, 131072},
}

// size is how large a machine is: as its domain says, or by its instance type. Zero is whatever a machine has without.
func (d domain) size(instancetype string) (cpus, memoryMiB int64) {
	_, name, _ := strings.Cut(instancetype, ".") // the series before it is how the processor is shared
	if known, ok := sizes[name]; ok {
		cpus, memoryMiB = known[0], known[1]
	}
	if d.CPU.Cores > 0 {
		cpus = d.CPU.Cores * max(1, d.CPU.Sockets) * max(1, d.CPU.Threads)
	}
	if d.Memory.Guest != nil {
		memoryMiB = d.Memory.Guest.Value() >> 20
	}
	return cpus, memoryMiB
}
