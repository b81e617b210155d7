// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"fmt"
	"path"
	"slices"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
)

// explain says of every role why to take it, or why not.
func explain(roles []*api.NodeRole, needs []Need, chosen map[string][]Need) Recommendation {
	var made Recommendation
	for _, role := range roles {
		if pool, ok := chosen[role.Name]; ok {
			made.Take = append(made.Take, Taken{Role: role.Name, For: namesOf(pool), Because: fits(role, pool), Asks: asks(role)})
			continue
		}
		made.Leave = append(made.Leave, Left{Role: role.Name, Because: because(role, needs)})
	}
	return made
}

// because says why a role is not the one to take.
func because(role *api.NodeRole, needs []Need) string {
	if why := missing(role, needs); why != "" {
		return why
	}
	if more := beside(role, needs); len(more) > 0 {
		return "it brings " + strings.Join(more, ", ") + " too, which is not needed"
	}
	return "it would do as well"
}

// namesOf are the words for needs.
func namesOf(needs []Need) (names []string) {
	for _, need := range needs {
		names = append(names, need.Name)
	}
	return names
}

// missing says why a role does not do; empty if it does.
func missing(role *api.NodeRole, needs []Need) string {
	controlPlane, drivers, extensions := together(needs)
	has := makerOf(role)
	absent := without(extensions, extensionsOf(role)...)
	foreign := without(drivers, string(has))
	switch runs := role.Spec.MachineType == api.MachineControlPlane; {
	case runs && !controlPlane:
		return "it runs the cluster's control plane"
	case controlPlane && !runs:
		return "it is for workers"
	case has != "" && !slices.Contains(drivers, string(has)):
		return "it is for machines with graphics of " + string(has)
	case len(foreign) > 0:
		return "it has no driver for graphics of " + strings.Join(foreign, ", ")
	case len(absent) > 0:
		return "it lacks " + strings.Join(absent, ", ")
	}
	return ""
}

// together is what needs add up to.
func together(needs []Need) (controlPlane bool, drivers, extensions []string) {
	for _, need := range needs {
		controlPlane = controlPlane || need.controlPlane
		if need.gpu != "" {
			drivers = append(drivers, string(need.gpu))
		}
		extensions = append(extensions, without(need.extensions, extensions...)...)
	}
	return controlPlane, drivers, extensions
}

// without are the names that are not among others.
func without(names []string, others ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}

// beside are the extensions of a role that nothing needs.
func beside(role *api.NodeRole, needs []Need) []string {
	_, _, extensions := together(needs)
	return without(extensionsOf(role), extensions...)
}

// fits says why a role does.
func fits(role *api.NodeRole, needs []Need) string {
	if len(needs) == 0 {
		return "nothing special is needed, and no other image is smaller"
	}
	var reasons []string
	for _, need := range needs {
		switch {
		case need.controlPlane:
			reasons = append(reasons, "it runs the control plane")
		case need.gpu != "":
			reasons = append(reasons, "it has the driver for graphics of "+string(need.gpu))
		case len(need.extensions) > 0:
			reasons = append(reasons, "it has "+strings.Join(need.extensions, ", ")+" for "+need.Name)
		default:
			reasons = append(reasons, need.Name+" needs nothing on the machine")
		}
	}
	if more := beside(role, needs); len(more) > 0 && makerOf(role) == "" {
		reasons = append(reasons, "it brings "+strings.Join(more, ", ")+" too, and no role with less has what is needed")
	}
	return strings.Join(reasons, "; ")
}

// asks is what a role wants of its machines and of who makes the pool.
func asks(role *api.NodeRole) []string {
	var all []string
	if role.Spec.PerCluster == api.PerClusterOne {
		all = append(all, "one machine in each cluster")
	}
	if maker := makerOf(role); maker != "" {
		all = append(all, "graphics of "+string(maker)+" in every machine")
	}
	if hardware := role.Spec.Hardware; hardware != nil && len(hardware.Architectures) > 0 {
		var names []string
		for _, architecture := range hardware.Architectures {
			names = append(names, string(architecture))
		}
		all = append(all, "processors of "+strings.Join(names, " or "))
	}
	for _, service := range role.Spec.Services {
		for _, variable := range service.Environment {
			if secret := variable.From.Secret; secret != nil {
				all = append(all, fmt.Sprintf("%s in the Secret %s, in the namespace of the pool", secret.Key, secret.Name))
			}
		}
	}
	return all
}

// makerOf is the maker of the graphics processor that a role is for; empty if it is for none.
func makerOf(role *api.NodeRole) api.GPUVendor {
	if role.Spec.Hardware == nil {
		return ""
	}
	return role.Spec.Hardware.GPU
}

// extensionsOf are the extensions of a role, without the name of who makes them.
func extensionsOf(role *api.NodeRole) (names []string) {
	for _, name := range role.Spec.Extensions {
		names = append(names, path.Base(name))
	}
	return names
}
