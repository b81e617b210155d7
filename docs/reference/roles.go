// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos"
	"minos.dev/minos/talos/extension"
)

// The guide to roles is written by hand; what the built-in ones bring stands between these lines of it.
const (
	rolesGuide = "docs/roles.md"
	rolesBegin = "<!-- Generated from talos/roles by 'make generate': begin -->\n"
	rolesEnd   = "<!-- end -->"
)

// writeRoles brings the tables of the guide up to date.
func writeRoles() error {
	page, err := os.ReadFile(rolesGuide)
	if err != nil {
		return err
	}
	head, rest, begins := strings.Cut(string(page), rolesBegin)
	_, tail, ends := strings.Cut(rest, rolesEnd)
	if !begins || !ends {
		return fmt.Errorf("%s has no place for the tables, between %q and %q", rolesGuide, rolesBegin, rolesEnd)
	}
	tables, err := roleTables()
	if err != nil {
		return err
	}
	return os.WriteFile(rolesGuide, []byte(head+rolesBegin+tables+rolesEnd+tail), 0o644)
}

// roleTables are what the built-in roles bring, and what they ask for.
func roleTables() (string, error) {
	roles, err := talos.NewRoles()
	if err != nil {
		return "", err
	}
	catalogue, err := extension.Load()
	if err != nil {
		return "", err
	}
	var brings, asks bytes.Buffer
	for _, name := range roles.Names() {
		role, err := roles.Resolve(api.Name(name))
		if err != nil {
			return "", err
		}
		costs, err := costOf(role, catalogue)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&brings, "| `%s` | %s | %s | %s | %s | %s |\n", name, cell(role.Spec.Description), role.Spec.PerCluster,
			quoted(role.Spec.Extensions), quoted(modulesOf(role)), hardwareOf(role.Spec.Hardware))
		fmt.Fprintf(&asks, "| `%s` | %s | %s | %s |\n", name, strings.Join(costs.waits, "; "), quoted(costs.kernel), strings.Join(costs.yours, "; "))
	}
	return "\n| role | what it is | per cluster | extensions | modules it loads | hardware |\n|---|---|---|---|---|---|\n" + brings.String() +
		"\n| role | its boot ends when | extensions with kernel modules | what you bring |\n|---|---|---|---|\n" + asks.String() + "\n", nil
}

// modulesOf are the names of the modules that a role loads.
func modulesOf(role *api.NodeRole) (names []string) {
	for _, module := range role.Spec.KernelModules {
		names = append(names, module.Name)
	}
	return names
}

// hardwareOf is what a machine must have, in a cell.
func hardwareOf(hardware *api.Hardware) string {
	if hardware == nil {
		return "any"
	}
	words := []string{}
	if hardware.GPU != "" {
		words = append(words, "graphics of "+string(hardware.GPU))
	}
	for _, architecture := range hardware.Architectures {
		words = append(words, "`"+string(architecture)+"`")
	}
	return strings.Join(words, ", ")
}

// A cost is what a role asks of its machines and of its user.
type cost struct{ waits, kernel, yours []string }

// costOf reads it from the role and from what is known of its extensions.
func costOf(role *api.NodeRole, catalogue *extension.Catalogue) (found cost, err error) {
	for _, name := range role.Spec.Extensions {
		known, ok := catalogue.Find(name)
		if !ok {
			return found, fmt.Errorf("role %s has extension %s, which nobody knows", role.Name, name)
		}
		if known.Kernel {
			found.kernel = append(found.kernel, name)
		}
		for _, handler := range known.RuntimeHandlers {
			found.yours = append(found.yours, "a RuntimeClass with the handler `"+handler+"`")
		}
		for _, service := range known.Services {
			found.waits = append(found.waits, waitOf(service))
		}
	}
	for _, service := range role.Spec.Services {
		for _, variable := range service.Environment {
			if secret := variable.From.Secret; secret != nil {
				found.yours = append(found.yours, fmt.Sprintf("`%s` in the Secret `%s`, in the namespace of the pool", secret.Key, secret.Name))
			}
		}
	}
	return found, nil
}

// waitOf says what a service needs before the boot can end.
func waitOf(service extension.Service) string {
	needs := slices.Clone(service.WaitsForPaths)
	if service.NeedsConfig {
		needs = append(needs, "its configuration")
	}
	for i, need := range needs {
		if strings.HasPrefix(need, "/") {
			needs[i] = "`" + need + "`"
		}
	}
	end := "runs"
	if service.Once {
		end = "has ended"
	}
	if len(needs) == 0 {
		return fmt.Sprintf("`ext-%s` %s", service.Name, end)
	}
	return fmt.Sprintf("`ext-%s` %s, which waits for %s", service.Name, end, strings.Join(needs, " and "))
}

// quoted is names in a cell.
func quoted[T ~string](names []T) string {
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = "`" + string(name) + "`"
	}
	return strings.Join(words, ", ")
}
