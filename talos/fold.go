// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"cmp"
	"maps"
	"slices"

	api "minos.dev/minos/api/v1alpha1"
)

// fold lays a more special role over a more general one.
func fold(base, over *api.NodeRoleSpec) {
	base.Description = cmp.Or(over.Description, base.Description)
	base.MachineType = cmp.Or(over.MachineType, base.MachineType)
	base.PerCluster = cmp.Or(over.PerCluster, base.PerCluster)
	base.Extensions = union(base.Extensions, over.Extensions)
	base.KernelArgs = union(base.KernelArgs, over.KernelArgs)
	base.Sysctls = merge(base.Sysctls, over.Sysctls)
	base.Labels = merge(base.Labels, over.Labels)
	base.Taints = mergeBy(base.Taints, over.Taints, func(t api.Taint) string { return t.Key })
	base.KernelModules = mergeBy(base.KernelModules, over.KernelModules, func(m api.KernelModule) string { return m.Name })
	base.Services = foldServices(base.Services, over.Services)
	base.Config = foldConfig(base.Config, over.Config)
	base.Hardware = foldHardware(base.Hardware, over.Hardware)
}

// foldServices lays services over services; those of the same name are merged, variable by variable and file by file.
func foldServices(base, over []api.ExtensionService) []api.ExtensionService {
	for _, service := range over {
		i := slices.IndexFunc(base, func(s api.ExtensionService) bool { return s.Name == service.Name })
		if i < 0 {
			base = append(base, service)
			continue
		}
		base[i].Environment = mergeBy(base[i].Environment, service.Environment, func(v api.ServiceVariable) string { return v.Name })
		base[i].Files = mergeBy(base[i].Files, service.Files, func(f api.ServiceFile) string { return f.Path })
	}
	return base
}

// foldConfig puts the patches of the special role after those of the general one, so that Talos's merge lets them win.
func foldConfig(base, over *api.Layer) *api.Layer {
	if base == nil || over == nil {
		return cmp.Or(over, base)
	}
	return &api.Layer{Patches: append(base.Patches, over.Patches...)}
}

// foldHardware lets the special role narrow what the general one asks for.
func foldHardware(base, over *api.Hardware) *api.Hardware {
	if base == nil || over == nil {
		return cmp.Or(over, base)
	}
	narrowed := &api.Hardware{GPU: cmp.Or(over.GPU, base.GPU), Architectures: base.Architectures}
	if len(over.Architectures) > 0 {
		narrowed.Architectures = over.Architectures
	}
	return narrowed
}

// union appends what is not there yet.
func union[T comparable](base, over []T) []T {
	for _, item := range over {
		if !slices.Contains(base, item) {
			base = append(base, item)
		}
	}
	return base
}

// merge lays a map over another.
func merge(base, over map[string]string) map[string]string {
	if base == nil {
		return over
	}
	maps.Copy(base, over)
	return base
}

// mergeBy lays a list over another: an item with a key that is there already takes its place.
func mergeBy[T any](base, over []T, key func(T) string) []T {
	for _, item := range over {
		i := slices.IndexFunc(base, func(b T) bool { return key(b) == key(item) })
		if i < 0 {
			base = append(base, item)
			continue
		}
		base[i] = item
	}
	return base
}
