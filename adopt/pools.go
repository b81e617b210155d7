// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"fmt"
	"slices"

	api "minos.dev/minos/api/v1alpha1"
)

// A pool is machines that have all in common that a pool decides.
type pool struct {
	name         string
	controlPlane bool
	architecture api.Architecture
	secureBoot   bool
	schematic    string
	hosts        []*host
	role         role
	steps        []Step // what all hosts share
	config       api.PoolConfig
	from         origins
}

// A host is one machine of a pool.
type host struct {
	name    string
	machine *Machine
	disk    api.InstallDisk
	steps   []Step // what it has of its own
	comment string // what is to be known of the disk
}

// poolsOf groups machines: those of the control plane first, each group in the order of the folder.
func poolsOf(source *Source, roles *roles) []*pool {
	var pools []*pool
	for _, controlPlane := range []bool{true, false} {
		var some []*pool
		for _, machine := range source.Machines {
			if machine.ControlPlane == controlPlane {
				some = grouped(some, machine, roles)
			}
		}
		nameAll(some)
		pools = append(pools, some...)
	}
	return pools
}

// grouped puts a machine into the pool that it belongs to.
func grouped(pools []*pool, machine *Machine, roles *roles) []*pool {
	image := installerOf(machine.Config)
	i := slices.IndexFunc(pools, func(p *pool) bool {
		return p.architecture == machine.Architecture && p.secureBoot == image.secureBoot && p.schematic == image.id
	})
	if i < 0 {
		i = len(pools)
		pools = append(pools, &pool{
			controlPlane: machine.ControlPlane, architecture: machine.Architecture,
			secureBoot: image.secureBoot, schematic: image.id, role: roles.of(image.id, machine), from: origins{},
		})
	}
	pools[i].hosts = append(pools[i].hosts, &host{machine: machine})
	return pools
}

// nameAll names the pools of one machine type by what tells them apart.
func nameAll(pools []*pool) {
	taken := map[string]int{}
	for _, p := range pools {
		name := poolName(p.controlPlane)
		differ := func(by func(*pool) any) bool {
			return slices.ContainsFunc(pools, func(other *pool) bool { return by(other) != by(pools[0]) })
		}
		if differ(func(p *pool) any { return p.architecture }) {
			name += "-" + string(p.architecture)
		}
		if p.secureBoot && differ(func(p *pool) any { return p.secureBoot }) {
			name += "-secureboot"
		}
		if taken[name]++; taken[name] > 1 {
			name = fmt.Sprintf("%s-%d", name, taken[name])
		}
		p.name = name
	}
}

// poolName is what the pools of a machine type are called.
func poolName(controlPlane bool) string {
	if controlPlane {
		return "control-plane"
	}
	return "workers"
}

// nameHosts gives every host the name of its machine: as the configuration has it, or as the other tool calls it.
func nameHosts(pools []*pool) {
	taken := map[string]int{}
	for _, p := range pools {
		for _, h := range p.hosts {
			name := label(firstLabel(hostnameOf(h.machine)), longestHost-4)
			if name == "" {
				name = "machine"
			}
			if taken[name]++; taken[name] > 1 {
				name = fmt.Sprintf("%s-%d", name, taken[name])
			}
			h.name = name
		}
	}
}
