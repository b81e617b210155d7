// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"fmt"
	"strings"

	prediction "minos.dev/minos/talos/boot"
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
type Surroundings = prediction.Surroundings

// ExtensionServices returns the services of an image's extensions, by name. Of a service that waits it says for what.
// Configuration is looked at before paths and other services, in the order in which Talos prints its conditions.
func ExtensionServices(catalogue *extension.Catalogue, image Image, around Surroundings) []ServiceState {
	var states []ServiceState
	for _, service := range prediction.Predict(catalogue, image.Extensions, around).Services {
		state := ServiceState{Name: service.Name, State: serviceRunning}
		if service.Once {
			state.State = serviceFinished
		}
		if need, lacks := service.Lacking(); lacks {
			state.State, state.Waits = serviceWaiting, need.Waits()
		}
		states = append(states, state)
	}
	return states
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
