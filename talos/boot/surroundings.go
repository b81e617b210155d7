// SPDX-License-Identifier: Apache-2.0

package boot

import (
	"fmt"
	"slices"
	"strings"

	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"
)

// Surroundings are what decides whether services start.
type Surroundings struct {
	// Configured are the names of ExtensionServiceConfig documents.
	Configured []string
	// Modules are the kernel modules that the configuration loads.
	Modules []string
	// Devices are paths that the machine's hardware or hypervisor brings.
	Devices []string
	// GPU is the maker of the machine's graphics processor in small letters, for example nvidia; empty if there is none.
	GPU string
	// Platform is Talos's word for where the machine runs; empty if that brings nothing.
	Platform string
	// Unsure are paths of which nobody knows whether they exist. What is named neither here nor above is not there.
	Unsure []string
}

// The paths that a machine has only if something brings them. Every other path that a service waits for is Talos's own.
const (
	PathZFS          = "/dev/zfs"
	PathMultipath    = "/dev/mapper/control"
	PathGuestChannel = "/dev/virtio-ports/org.qemu.guest_agent.0"
	PathNVIDIA       = "/sys/bus/pci/drivers/nvidia"
	PathHyperVKVP    = "/dev/vmbus/hv_kvp"
	PathHyperVVSS    = "/dev/vmbus/hv_vss"
)

// A bringer is what can bring a path, beside that it is simply there.
type bringer struct {
	module   string // the kernel module that makes it
	gpu      string // the maker of the graphics processor that it needs as well
	platform string // the platform on which it always is
	lacks    string // what to say when it is not there
}

// bringers are what brings the paths that Talos does not have by itself.
var bringers = map[string]bringer{
	PathZFS:          {module: "zfs", lacks: "load the kernel module zfs"},
	PathMultipath:    {module: "dm_multipath", lacks: "load the kernel module dm_multipath"},
	PathGuestChannel: {lacks: "enable the channel of QEMU's guest agent in the hypervisor"},
	PathNVIDIA:       {module: "nvidia", gpu: "nvidia", lacks: "use the image on machines with a graphics processor of NVIDIA, and load its four kernel modules"},
	PathHyperVKVP:    {platform: "azure", lacks: "use the image on Hyper-V"},
	PathHyperVVSS:    {platform: "azure", lacks: "use the image on Hyper-V"},
}

// drivers are the extensions that hold the kernel modules of NVIDIA, without the line at the end of their names.
var drivers = []string{"nvidia-open-gpu-kernel-modules", "nonfree-kmod-nvidia"}

// Configured returns surroundings with what a machine configuration brings: old fields and new documents alike.
func Configured(provider talosconfig.Config) Surroundings {
	around := Surroundings{}
	for _, service := range provider.ExtensionServiceConfigs() {
		around.Configured = append(around.Configured, service.Name())
	}
	for _, module := range provider.KernelModuleConfigs() {
		around.Modules = append(around.Modules, module.Name())
	}
	return around
}

// path says whether a path exists in an image with extensions, and what brings it.
func (s Surroundings) path(path string, extensions []string) (state State, by string) {
	from, special := bringers[path]
	switch {
	case !special:
		return Provided, "Talos"
	case slices.Contains(s.Devices, path):
		return Provided, "the hardware or the hypervisor"
	case from.platform != "" && from.platform == s.Platform:
		return Provided, "platform " + s.Platform
	case from.gpu != "":
		return s.driver(path, from, extensions)
	case from.module != "" && slices.Contains(s.Modules, from.module):
		return Provided, "kernel module " + from.module
	case slices.Contains(s.Unsure, path):
		return Unsure, ""
	}
	return Missing, ""
}

// driver says whether the driver of a graphics processor is there: it takes the processor, its module, and an image that has that.
func (s Surroundings) driver(path string, from bringer, extensions []string) (state State, by string) {
	inImage := slices.ContainsFunc(extensions, func(name string) bool {
		return slices.ContainsFunc(drivers, func(driver string) bool { return strings.HasPrefix(name, driver) })
	})
	switch {
	case !inImage || !slices.Contains(s.Modules, from.module):
		return Missing, ""
	case s.GPU == from.gpu:
		return Provided, fmt.Sprintf("kernel module %s and the graphics processor", from.module)
	case slices.Contains(s.Unsure, path):
		return Unsure, ""
	}
	return Missing, ""
}
