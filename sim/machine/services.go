// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"fmt"
	"slices"
	"strings"

	"minos.dev/minos/talos/extension"
)

// A ServiceState is one service of a machine, as ServiceList tells of it.
type ServiceState struct {
	// Name is the service's, with "ext-" for those of extensions.
	Name string
	// State is the word of Talos: Running, Finished or Waiting.
	State string
	// Waits says what it waits for.
	Waits string
}

// The states of a service.
const (
	serviceRunning  = "Running"
	serviceFinished = "Finished"
	serviceWaiting  = "Waiting"
)

// Surroundings are what decides whether services start.
type Surroundings struct {
	// Configured are the names of ExtensionServiceConfig documents.
	Configured []string
	// Modules are the kernel modules that the configuration loads.
	Modules []string
	// Devices are paths that the machine's hardware or hypervisor brings.
	Devices []string
}

// hardware are the paths that a machine has only if something brings them, and the module that makes one without hardware.
// Every other path is Talos's own.
var hardware = map[string]string{
	"/dev/zfs":            "zfs",
	"/dev/mapper/control": "dm_multipath",
	"/dev/virtio-ports/org.qemu.guest_agent.0": "",
	"/sys/bus/pci/drivers/nvidia":              "",
	"/dev/vmbus/hv_kvp":                        "",
	"/dev/vmbus/hv_vss":                        "",
}

// exists says whether a path does.
func (s Surroundings) exists(path string) bool {
	module, special := hardware[path]
	return !special || slices.Contains(s.Devices, path) || module != "" && slices.Contains(s.Modules, module)
}

// ExtensionServices returns the services of an image's extensions, by name. Of a service that waits it says for what.
// Configuration is looked at before paths and other services, in the order in which Talos prints its conditions.
func ExtensionServices(catalogue *extension.Catalogue, image Image, around Surroundings) []ServiceState {
	declared := map[string]extension.Service{}
	for _, name := range image.Extensions {
		found, _ := catalogue.Find(name)
		for _, service := range found.Services {
			declared["ext-"+service.Name] = service
		}
	}
	var states []ServiceState
	for name, service := range declared {
		state := ServiceState{Name: name, State: serviceRunning, Waits: around.waits(name, declared, nil)}
		switch {
		case state.Waits != "":
			state.State = serviceWaiting
		case service.Once:
			state.State = serviceFinished
		}
		states = append(states, state)
	}
	slices.SortFunc(states, func(a, b ServiceState) int { return strings.Compare(a.Name, b.Name) })
	return states
}

// waits says what a service waits for. Services of Talos itself run at this point. The path of those that were asked guards
// against services that wait for each other.
func (s Surroundings) waits(name string, declared map[string]extension.Service, asked []string) string {
	service, ours := declared[name]
	if !ours {
		if strings.HasPrefix(name, "ext-") {
			return fmt.Sprintf("service %q to be up, which no extension brings", name)
		}
		return ""
	}
	if slices.Contains(asked, name) {
		return fmt.Sprintf("itself, by way of %s", strings.Join(asked, ", "))
	}
	if service.NeedsConfig && !slices.Contains(s.Configured, service.Name) {
		return fmt.Sprintf("extension service config %q", service.Name)
	}
	for _, path := range service.WaitsForPaths {
		if !s.exists(path) {
			return fmt.Sprintf("file %q to exist", path)
		}
	}
	for _, other := range service.WaitsForServices {
		if s.waits(other, declared, append(asked, name)) != "" {
			return fmt.Sprintf("service %q to be up", other)
		}
	}
	return ""
}

// Waiting is what keeps a boot from ending, as one line; empty if nothing does.
func Waiting(services []ServiceState) string {
	var lines []string
	for _, service := range services {
		if service.State == serviceWaiting {
			lines = append(lines, fmt.Sprintf("service %q waits for %s", service.Name, service.Waits))
		}
	}
	return strings.Join(lines, "; ")
}
