// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"

	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/config"
	"minos.dev/minos/talos/image"
)

// Secrets are what a cluster's machines need and no declaration says.
type Secrets struct {
	// Bundle is the cluster's identity, authorities and tokens.
	Bundle *secrets.Bundle
	// Accepted is what is accepted beside the authorities of the bundle, while one of them is being replaced.
	Accepted config.Accepted
	// Values are the values of the Secrets that roles refer to.
	Values map[api.SecretKeyReference]string
}

// A Machine is one machine, or for places that make like machines on demand what each of them gets.
type Machine struct {
	// Pool is the pool that it belongs to.
	Pool *api.NodePool
	// Name is the host's name, or the pool's where machines have no names yet.
	Name string
	// Address is where the machine is reached, or nothing where that is not known yet.
	Address api.Address
	// Config is its configuration.
	Config []byte
}

// Render returns the machines of a pool. What they share is computed once.
func (f *Fleet) Render(pool *api.NodePool, with Secrets) ([]Machine, error) {
	in, err := f.Input(pool)
	if err != nil {
		return nil, fmt.Errorf("pool %s: %w", pool.Name, err)
	}
	in.Secrets, in.Accepted, in.Values = with.Bundle, with.Accepted, with.Values
	shared, err := config.NewPool(in)
	if err != nil {
		return nil, fmt.Errorf("pool %s: %w", pool.Name, err)
	}
	machines, err := render(pool, shared)
	if err != nil {
		return nil, fmt.Errorf("pool %s: %w", pool.Name, err)
	}
	return machines, nil
}

// render lays the layer of each host over what the pool shares.
func render(pool *api.NodePool, shared *config.Pool) ([]Machine, error) {
	if pool.Spec.Machine.Metal == nil {
		text, err := shared.Shared()
		return []Machine{{Pool: pool, Name: pool.Name, Config: text}}, err
	}
	var machines []Machine
	for _, host := range pool.Spec.Machine.Metal.Hosts {
		text, err := shared.Host(host)
		if err != nil {
			return nil, err
		}
		machines = append(machines, Machine{Pool: pool, Name: string(host.Name), Address: host.Address, Config: text})
	}
	return machines, nil
}

// Input returns what decides the configuration of a pool's machines, but for the secrets.
func (f *Fleet) Input(pool *api.NodePool) (config.Input, error) {
	in, err := f.input(pool)
	if err != nil {
		return in, err
	}
	in.Endpoint, err = Endpoint(in.Cluster)
	return in, err
}

// input is Input before the endpoint is known.
func (f *Fleet) input(pool *api.NodePool) (config.Input, error) {
	cluster, err := f.Cluster(pool)
	if err != nil {
		return config.Input{}, err
	}
	location, err := f.Location(pool)
	if err != nil {
		return config.Input{}, err
	}
	role, err := f.Role(pool)
	if err != nil {
		return config.Input{}, err
	}
	installer, err := installerOf(cluster, pool, role)
	if err != nil {
		return config.Input{}, err
	}
	return config.Input{Cluster: cluster, Pool: pool, Role: role, Place: location.Place(), Installer: installer, Capacity: capacityOf(pool)}, nil
}

// capacityOf is the size of a pool's machines where the declaration says it.
func capacityOf(pool *api.NodePool) *api.Resources {
	switch machine := pool.Spec.Machine; {
	case machine.KubeVirt != nil:
		return machine.KubeVirt.Size.Resources
	case machine.Sim != nil:
		return machine.Sim.Resources
	}
	return nil
}

// Endpoint is where machines reach the API server: as declared, or as the hosted control plane got it.
func Endpoint(cluster *api.TalosCluster) (api.Endpoint, error) {
	switch {
	case cluster.Spec.Endpoint != nil:
		return *cluster.Spec.Endpoint, nil
	case cluster.Status.Endpoint != nil:
		return *cluster.Status.Endpoint, nil
	}
	return api.Endpoint{}, fmt.Errorf("cluster %s has no endpoint yet: a hosted control plane gets one when it runs; set spec.endpoint to say it before", cluster.Name)
}

// installerOf is the image by which machines of a pool are installed and upgraded.
func installerOf(cluster *api.TalosCluster, pool *api.NodePool, role *api.NodeRole) (string, error) {
	wanted := image.Image{
		Version: cluster.Spec.TalosVersion, Platform: image.PlatformOf(pool.Spec.Machine.Member()), Architecture: pool.Spec.Architecture,
	}
	if images := cluster.Spec.Images; images != nil {
		wanted.Factory, wanted.Installer = string(images.Factory), images.Installer
	}
	if metal := pool.Spec.Machine.Metal; metal != nil {
		wanted.SecureBoot = metal.SecureBoot == api.SecureBootEnabled
	}
	whole, err := image.For(role, wanted)
	if err != nil {
		return "", err
	}
	return whole.InstallerImage()
}
