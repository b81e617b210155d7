// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"slices"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/boot"
	"minos.dev/minos/talos/extension"
)

// Boot says in advance how the machine boots; or, in a few words, why that cannot be said.
func (m *Machine) Boot() (prediction boot.Prediction, unknown string) {
	switch {
	case !m.ExtensionsKnown:
		return prediction, "which extensions are in its image is not known"
	case m.Config == nil:
		return prediction, "its configuration cannot be read"
	}
	catalogue, err := extension.Load()
	if err != nil {
		return prediction, err.Error()
	}
	return boot.Predict(catalogue, m.Extensions, m.Surroundings()), ""
}

// Surroundings are what decides whether the services of its image start, as far as it is known: its configuration, what is
// declared about its hardware, and where it runs.
func (m *Machine) Surroundings() boot.Surroundings {
	around := boot.Surroundings{}
	if m.Config != nil {
		around = boot.Configured(m.Config)
	}
	around.Platform = m.Platform
	if around.Platform == "" {
		around.Platform = m.Notes[NotePlatform]
	}
	gpu, known := m.GPU()
	if around.GPU = gpu; !known {
		around.Unsure = append(around.Unsure, boot.PathNVIDIA)
	}
	virtual(&around, m.channel(), boot.PathGuestChannel)
	virtual(&around, m.under("hyperv"), boot.PathHyperVKVP, boot.PathHyperVVSS)
	return around
}

// An answer is yes, no or unknown.
type answer int

const (
	unknown answer = iota
	yes
	no
)

// virtual adds paths that a hypervisor brings, by whether it does.
func virtual(around *boot.Surroundings, has answer, paths ...string) {
	switch has {
	case yes:
		around.Devices = append(around.Devices, paths...)
	case unknown:
		around.Unsure = append(around.Unsure, paths...)
	}
}

// under says whether it runs on a hypervisor.
func (m *Machine) under(hypervisor string) answer {
	switch note := strings.ToLower(m.Notes[NoteHypervisor]); {
	case note == hypervisor:
		return yes
	case note != "" || m.Host != nil || m.kubevirt() != nil: // a declared machine of metal is on none unless somebody notes it
		return no
	}
	return unknown
}

// channel says whether the hypervisor has the channel of QEMU's agent. KubeVirt always does.
func (m *Machine) channel() answer {
	switch note := strings.ToLower(m.Notes[NoteGuestChannel]); {
	case note == "enabled" || m.kubevirt() != nil:
		return yes
	case note != "" || m.under("qemu") == no:
		return no
	}
	return unknown
}

// kubevirt is how it is declared as a virtual machine of KubeVirt; nil if it is not.
func (m *Machine) kubevirt() *api.KubeVirtMachine {
	if m.Pool == nil {
		return nil
	}
	return m.Pool.Object.Spec.Machine.KubeVirt
}

// makers are the makers of graphics processors, by how the words about them begin.
var makers = []string{"nvidia", "amd", "intel"}

// GPU is the maker of its graphics processor in small letters, empty if there is none; and whether that is known: by what it is
// declared with, by a note, or by what its role says that its machines have.
func (m *Machine) GPU() (maker string, known bool) {
	if m.Pool != nil {
		spec := m.Pool.Object.Spec.Machine
		if spec.Sim != nil {
			return strings.ToLower(string(spec.Sim.GPU)), true
		}
		if spec.KubeVirt != nil {
			return ofDevices(spec.KubeVirt.GPUs), true
		}
	}
	words := m.Hardware()
	for _, maker := range makers {
		if slices.Contains(words, maker) || slices.Contains(words, maker+"-gpu") {
			return maker, true
		}
	}
	if m.Pool != nil && m.Pool.Role.Spec.Hardware != nil {
		maker = strings.ToLower(string(m.Pool.Role.Spec.Hardware.GPU))
	}
	return maker, maker != "" || len(words) > 0 // who notes the hardware notes all of it
}

// ofDevices is the maker of the first graphics processor that a virtual machine gets.
func ofDevices(devices []api.KubeVirtGPU) string {
	for _, device := range devices {
		for _, maker := range makers {
			if strings.HasPrefix(device.DeviceName, maker) {
				return maker
			}
		}
	}
	return ""
}

// Hardware is the words of the note about its hardware.
func (m *Machine) Hardware() []string {
	return strings.FieldsFunc(strings.ToLower(m.Notes[NoteHardware]), func(r rune) bool { return r == ',' || r == ' ' })
}
