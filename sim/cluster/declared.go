// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"minos.dev/minos/api/load"
	"minos.dev/minos/api/nearest"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	"minos.dev/minos/talos/fleet"
	"minos.dev/minos/talos/image"
)

// Declared is what declarations say of one cluster, to be simulated.
type Declared struct {
	// Cluster is the declaration.
	Cluster *api.TalosCluster
	fleet   *fleet.Fleet
	pools   []*api.NodePool
}

// Read finds a cluster among declarations. Without a name there must be one only.
func Read(objects []load.Object, name string) (*Declared, error) {
	copies := make([]load.Object, 0, len(objects))
	for _, object := range objects {
		copied, _ := object.DeepCopyObject().(load.Object) // a copy of one of our kinds is one
		copies = append(copies, copied)
	}
	whole, err := fleet.New(copies)
	if err != nil {
		return nil, err
	}
	var found *api.TalosCluster
	var names []string
	for _, cluster := range whole.Clusters() {
		names = append(names, cluster.Name)
		if name == "" || cluster.Name == name {
			found = cluster
		}
	}
	switch {
	case name == "" && len(names) > 1:
		return nil, fmt.Errorf("there is more than one cluster: say which of %s", strings.Join(names, ", "))
	case found == nil && name == "":
		return nil, errors.New("no cluster is declared")
	case found == nil:
		return nil, fmt.Errorf("no cluster %s is declared%s", name, nearest.Hint(name, names))
	}
	return &Declared{Cluster: found, fleet: whole, pools: whole.Pools(found)}, nil
}

// Owner is whom the machines belong to.
func (d *Declared) Owner() backend.Owner {
	return backend.Owner{Installation: "simulation", Cluster: d.Cluster.Name}
}

// Pools are the names of the pools.
func (d *Declared) Pools() []string {
	var names []string
	for _, pool := range d.pools {
		names = append(names, pool.Name)
	}
	return names
}

// Machines returns the machines that the pools of a cluster want, to be made in a simulated place. Counts say how many a pool
// has, where that is not what it declares. Only the endpoint and the secrets are the simulation's; the values of Secrets that
// roles refer to are placeholders.
func (d *Declared) Machines(c *Cluster, counts map[string]int) ([]backend.Machine, error) {
	endpoint := c.Plane.Endpoint()
	d.Cluster.Spec.Endpoint = &api.Endpoint{Host: endpoint.Addr().String(), Port: int32(endpoint.Port())}
	var wanted []backend.Machine
	for _, pool := range d.pools {
		machines, err := d.pool(c, pool, counts)
		if err != nil {
			return nil, fmt.Errorf("pool %s: %w", pool.Name, err)
		}
		wanted = append(wanted, machines...)
	}
	return wanted, nil
}

// pool returns the machines of one pool.
func (d *Declared) pool(c *Cluster, pool *api.NodePool, counts map[string]int) ([]backend.Machine, error) {
	role, err := d.fleet.Role(pool)
	if err != nil {
		return nil, err
	}
	values := map[api.SecretKeyReference]string{}
	for _, reference := range fleet.References(role) {
		values[reference] = "simulated-" + reference.Key
	}
	rendered, err := d.fleet.Render(pool, fleet.Secrets{Bundle: c.Secrets.Bundle, Values: values})
	if err != nil {
		return nil, err
	}
	booted, err := d.image(pool, role)
	if err != nil {
		return nil, err
	}
	count, ok := counts[pool.Name]
	if !ok {
		count = Count(pool)
	}
	var wanted []backend.Machine
	for at := range count {
		one := backend.Machine{
			Owner: d.Owner(), Pool: pool.Name, Image: booted,
			Name: fmt.Sprintf("%s-%d", pool.Name, at+1), UserData: rendered[0].Config, Spec: api.Machine{Sim: simulated(pool, role)},
		}
		if pool.Spec.Machine.Metal != nil {
			if at >= len(rendered) {
				return nil, fmt.Errorf("%d machines are wanted of the %d hosts that are declared", count, len(rendered))
			}
			one.Name, one.UserData = rendered[at].Name, rendered[at].Config
		}
		wanted = append(wanted, one)
	}
	return wanted, nil
}

// Count is how many machines a pool declares.
func Count(pool *api.NodePool) int {
	switch {
	case pool.Spec.Machine.Metal != nil:
		return len(pool.Spec.Machine.Metal.Hosts)
	case pool.Spec.Replicas != nil:
		return int(*pool.Spec.Replicas)
	case pool.Spec.Autoscaling != nil && pool.Spec.Autoscaling.Min != nil:
		return int(*pool.Spec.Autoscaling.Min)
	}
	return 1
}

// image is what the machines of a pool boot.
func (d *Declared) image(pool *api.NodePool, role *api.NodeRole) (backend.Image, error) {
	disk, err := image.For(role, image.Image{
		Version: d.Cluster.Spec.TalosVersion, Platform: image.PlatformOf(api.MemberSim), Architecture: cmp.Or(pool.Spec.Architecture, api.AMD64),
	})
	if err != nil {
		return backend.Image{}, err
	}
	address, err := disk.URL(image.Disk)
	return backend.Image{URL: address, Version: disk.Version, Schematic: disk.Schematic}, err
}

// Schematics returns the extensions in the images of the pools, by the identity of the image.
func (d *Declared) Schematics() (map[string][]string, error) {
	found := map[string][]string{}
	for _, pool := range d.pools {
		role, err := d.fleet.Role(pool)
		if err != nil {
			return nil, err
		}
		booted, err := d.image(pool, role)
		if err != nil {
			return nil, fmt.Errorf("pool %s: %w", pool.Name, err)
		}
		found[booted.Schematic] = image.Extensions(role)
	}
	return found, nil
}

// simulated is the hardware of a pool's machines, as it is declared. A host of metal has the graphics processor that its role
// needs, because nobody declares what is in a host; a virtual machine has it if it is given a device.
func simulated(pool *api.NodePool, role *api.NodeRole) *api.SimMachine {
	machine, made := pool.Spec.Machine, &api.SimMachine{}
	needs := api.GPUVendor("")
	if role.Spec.Hardware != nil {
		needs = role.Spec.Hardware.GPU
	}
	switch {
	case machine.Sim != nil:
		return machine.Sim
	case machine.Metal != nil:
		made.GPU = needs
	case machine.KubeVirt != nil:
		made.Resources = machine.KubeVirt.Size.Resources
		if len(machine.KubeVirt.GPUs) > 0 {
			made.GPU = needs
		}
	}
	return made
}
