// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"cmp"
	"maps"
	"slices"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos"
	"minos.dev/minos/talos/extension"
)

// A role is a NodeRole to be written: a built-in one, and what the answers add to it.
type role struct {
	Name, For, Extends string
	Extensions         []string
	Modules            []api.KernelModule
	Sysctls, Labels    map[string]string
}

// adds says whether anything is added, so that the role has to be written at all.
func (r *role) adds() bool {
	return len(r.Extensions)+len(r.Modules)+len(r.Sysctls)+len(r.Labels) > 0
}

// planeRole is the role of control planes.
func (a *Answers) planeRole() (*role, error) {
	r := &role{Name: a.Name + "-control-plane", For: "the control planes", Extends: "control-plane"}
	if a.storesOnPlanes() {
		r.addStorage(storages[a.Storage])
	}
	alone := len(a.workers()) == 0
	return r, r.addExtensions(a.Extensions, func(name string) bool { return alone || ofEveryMachine(name) })
}

// workerRole is the role of workers.
func (a *Answers) workerRole() (*role, error) {
	storage := storages[a.Storage]
	r := &role{Name: a.Name + "-worker", For: "the workers", Extends: string(cmp.Or(storage.role, "plain"))}
	if storage.role == "" { // or the built-in role has it all
		r.addStorage(storage)
	}
	return r, r.addExtensions(a.Extensions, func(string) bool { return true })
}

// addStorage adds what a storage needs.
func (r *role) addStorage(s storage) {
	r.Extensions = append(r.Extensions, s.extensions...)
	r.Modules = append(r.Modules, s.modules...)
	r.Sysctls, r.Labels = maps.Clone(s.sysctls), maps.Clone(s.labels)
}

// addExtensions adds those of some extensions that are wanted here and not there yet, and what they need: an extension
// that brings a kernel module does not load it.
func (r *role) addExtensions(names []string, wanted func(string) bool) error {
	catalogue, err := extension.Load()
	if err != nil {
		return err
	}
	roles, err := talos.NewRoles()
	if err != nil {
		return err
	}
	base, err := roles.Resolve(api.Name(r.Extends))
	if err != nil {
		return err
	}
	for _, name := range names {
		if !wanted(name) || slices.Contains(base.Spec.Extensions, name) || slices.Contains(r.Extensions, name) {
			continue
		}
		r.Extensions = append(r.Extensions, name)
		found, _ := catalogue.Find(name) // the answers were checked
		for _, module := range found.Modules {
			r.addModule(module, base.Spec.KernelModules)
		}
		if len(found.Sysctls) > 0 && r.Sysctls == nil {
			r.Sysctls = map[string]string{}
		}
		maps.Copy(r.Sysctls, found.Sysctls)
	}
	slices.Sort(r.Extensions)
	return nil
}

// addModule loads a module unless one that does as well is loaded.
func (r *role) addModule(module extension.Module, loaded []api.KernelModule) {
	does := func(m api.KernelModule) bool { return slices.Contains(module.AnyOf, m.Name) }
	if !slices.ContainsFunc(loaded, does) && !slices.ContainsFunc(r.Modules, does) {
		r.Modules = append(r.Modules, api.KernelModule{Name: module.AnyOf[0]})
	}
}

// use is the name that a pool gives as its role.
func (r *role) use() string {
	if r.adds() {
		return r.Name
	}
	return r.Extends
}

// abouts are words about extensions that are added without asking.
var abouts = map[string]string{
	"amd-ucode":        "corrections for processors of AMD; the kernel takes what fits",
	"intel-ucode":      "corrections for processors of Intel; the kernel takes what fits",
	"iscsi-tools":      "by which Longhorn attaches volumes",
	"util-linux-tools": "by which Longhorn trims volumes",
	"nfs-utils":        "file locks of NFS version 3",
	"drbd":             "by which LINSTOR keeps copies",
	"zfs":              "in which LINSTOR keeps data",
}

// About says of an extension in a few words what it is for, or where to read it.
func (r *role) About(name string) string {
	return cmp.Or(abouts[name], "'minos image extensions' says what it needs")
}
