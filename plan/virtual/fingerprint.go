// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/resource"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/image"
)

// fingerprintLength is how much of a hash is part of a name.
const fingerprintLength = 10

// A matter is what matters of a machine: a change of it replaces every machine, and nothing else does. What the place decides
// (storage class, where images come from) is not in it: a change of that is for new machines. Defaults are filled in, so that
// saying one makes no difference.
type matter struct {
	// Version is that of this form. A new field whose zero value means what was before needs no new one.
	Version      string
	Cluster      string
	Role         string
	Schematic    string
	Talos        string
	Architecture string
	InstanceType string            `json:",omitempty"`
	Cores        int64             `json:",omitempty"`
	Memory       int64             `json:",omitempty"`
	Disk         int64             `json:",omitempty"`
	StorageClass string            `json:",omitempty"`
	GPUs         []string          `json:",omitempty"`
	PodLimit     int64             `json:",omitempty"`
	PodRequest   int64             `json:",omitempty"`
	NodeSelector map[string]string `json:",omitempty"`
	Spread       []api.Spread      `json:",omitempty"`
	Console      string
}

// matter is what matters of the pool's machines.
func (in Input) matter(booted image.Image) matter {
	machine := in.Pool.Spec.Machine.KubeVirt
	found := matter{
		Version: "v1", Cluster: in.Cluster.Name, Role: string(in.Pool.Spec.Role), Schematic: booted.Schematic, Talos: string(booted.Version),
		Architecture: string(booted.Architecture), InstanceType: machine.Size.InstanceType, NodeSelector: machine.NodeSelector, Spread: in.spread(),
		Console: string(cmp.Or(machine.SerialConsole, api.ConsoleLogged)),
	}
	if size := machine.Size.Resources; size != nil {
		found.Cores, found.Memory = size.CPU.Value(), size.Memory.Value()
	}
	disk := diskSize(machine)
	found.Disk = disk.Value()
	if machine.Disk != nil {
		found.StorageClass = machine.Disk.StorageClassName
	}
	for _, gpu := range machine.GPUs {
		found.GPUs = append(found.GPUs, gpu.DeviceName)
	}
	if machine.PodCPU != nil {
		found.PodLimit, found.PodRequest = milli(machine.PodCPU.Limit), milli(machine.PodCPU.Request)
	}
	return found
}

// fingerprint is a short name for what matters.
func (m matter) fingerprint() (string, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:fingerprintLength], nil
}

// milli is an amount in thousandths, or zero.
func milli(quantity *resource.Quantity) int64 {
	if quantity == nil {
		return 0
	}
	return quantity.MilliValue()
}

// diskSize is the size of the system disk.
func diskSize(machine *api.KubeVirtMachine) resource.Quantity {
	if machine.Disk != nil && machine.Disk.Size != nil {
		return *machine.Disk.Size
	}
	return resource.MustParse("20Gi")
}

// spread keeps machines apart: as declared, or on different hosts where that is possible.
func (in Input) spread() []api.Spread {
	declared := in.Pool.Spec.Machine.KubeVirt.Spread
	if len(declared) == 0 {
		declared = []api.Spread{{TopologyKey: "kubernetes.io/hostname"}}
	}
	var whole []api.Spread
	for _, each := range declared {
		each.MaxSkew, each.WhenUnsatisfiable = cmp.Or(each.MaxSkew, 1), cmp.Or(each.WhenUnsatisfiable, "ScheduleAnyway")
		whole = append(whole, each)
	}
	return whole
}
