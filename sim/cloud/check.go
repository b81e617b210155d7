// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"k8s.io/apimachinery/pkg/util/validation"

	wire "minos.dev/minos/backend/sim"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	"minos.dev/minos/talos/image"
)

// The largest machine of the cloud, and the longest words that it writes down.
const (
	mostCPUs   = 1024
	mostMemory = 16 << 20 // mebibytes
	longest    = 253
)

// checkWanted says why the cloud will never make a machine. It never quotes what the machine is given.
func checkWanted(wanted backend.Machine) error {
	if problems := validation.IsDNS1123Label(wanted.Name); len(problems) > 0 {
		return backend.Fail(backend.Invalid, "name: %.70q is not a label of DNS: use at most 63 of a-z, 0-9 and -", wanted.Name)
	}
	if member := wanted.Spec.Member(); member != api.MemberSim {
		return backend.Fail(backend.Invalid, "machine: its kind is %q and this cloud makes %q: give the pool a machine of this place", member, api.MemberSim)
	}
	if err := checkOwner(wanted.Owner); err != nil {
		return err
	}
	if len(wanted.Pool) > longest {
		return backend.Fail(backend.Invalid, "pool: it has more than %d bytes", longest)
	}
	if len(wanted.UserData) > wire.UserData {
		return backend.Fail(backend.Invalid, "userData: %d bytes, and %d fit: make the configuration smaller", len(wanted.UserData), wire.UserData)
	}
	if err := image.CheckVersion(wanted.Image.Version); err != nil {
		return backend.Fail(backend.Invalid, "image: %v", err)
	}
	return checkSize(wire.SizeOf(wanted.Spec.Sim))
}

// checkOwner says whether an owner is one. Nobody owns anything without both names.
func checkOwner(owner backend.Owner) error {
	for name, value := range map[string]string{"installation": owner.Installation, "cluster": owner.Cluster} {
		if value == "" || len(value) > longest {
			return backend.Fail(backend.Invalid, "%s: it has %d bytes: give from 1 to %d", name, len(value), longest)
		}
	}
	return nil
}

// checkSize says whether there are machines of a size.
func checkSize(size wire.Size) error {
	if size.CPUs < 0 || size.CPUs > mostCPUs || size.MemoryMiB < 0 || size.MemoryMiB > mostMemory {
		return backend.Fail(backend.Invalid, "size: %d processors and %d MiB: give from 1 to %d and from 1 to %d", size.CPUs, size.MemoryMiB, mostCPUs, mostMemory)
	}
	switch api.GPUVendor(size.GPU) {
	case "", api.GPUNVIDIA, api.GPUAMD, api.GPUIntel:
		return nil
	}
	return backend.Fail(backend.Invalid, "gpu: %.20q is not NVIDIA, AMD or Intel", size.GPU)
}
