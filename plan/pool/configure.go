// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"cmp"
	"errors"
	"slices"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/config"
	"minos.dev/minos/talos/extension"
	"minos.dev/minos/talos/fleet"
	"minos.dev/minos/talos/image"
)

// Configured is what the machines of a pool are configured with, and by what it is known.
type Configured struct {
	// Text is the machine configuration.
	Text []byte
	// Whole names it by its whole content, and Revision by that for which it has another name.
	Whole, Revision string
	// Labels are those that Minos keeps on the Nodes of machines that Cluster API makes. Talos keeps those of others.
	Labels map[string]string
	// Rolls names that for which machines roll where Minos makes them itself: see [Rolls].
	Rolls string
}

// Configure makes the configuration of a pool's machines. Whoever makes machines and whoever foretells what a change does to
// them asks here, so that both say the same.
func Configure(whole *fleet.Fleet, wanted *api.NodePool, booted image.Image, with fleet.Secrets) (Configured, error) {
	if wanted.Spec.Machine.Metal != nil {
		return Configured{}, errors.New("machines of a metal pool are looked after by the command line: see minos apply")
	}
	machines, err := whole.Render(wanted, with)
	if err != nil {
		return Configured{}, err
	}
	made := Configured{Text: machines[0].Config}
	if made.Whole, err = Revision(made.Text); err != nil {
		return Configured{}, err
	}
	if made.Revision, err = Named(wanted, made.Text); err != nil {
		return Configured{}, err
	}
	if wanted.Spec.Machine.KubeVirt != nil {
		if made.Labels, err = Labels(made.Text); err != nil {
			return Configured{}, err
		}
	}
	rolling, err := config.Revision(made.Text)
	if err != nil {
		return Configured{}, err
	}
	made.Rolls, err = Rolls(rolling, wanted.Spec.Machine, booted.Schematic, booted.Version)
	return made, err
}

// Named is the revision of a pool's machine configuration.
func Named(of *api.NodePool, text []byte) (string, error) {
	if of.Spec.Machine.KubeVirt != nil {
		return Lasting(text)
	}
	return Revision(text)
}

// Image is what new machines of a pool boot.
func Image(cluster *api.TalosCluster, wanted *api.NodePool, role *api.NodeRole) (image.Image, error) {
	named := image.Image{
		Version: cluster.Spec.TalosVersion, Platform: image.PlatformOf(wanted.Spec.Machine.Member()),
		Architecture: cmp.Or(wanted.Spec.Architecture, api.AMD64),
	}
	if images := cluster.Spec.Images; images != nil {
		named.Factory = string(images.Factory)
	}
	return image.For(role, named)
}

// HasServices says whether the machines of a role have extension services, for which their boot waits: those of its extensions, and
// those that it configures. An extension that the catalogue does not know may have some.
func HasServices(role *api.NodeRole) (bool, error) {
	if len(role.Spec.Services) > 0 {
		return true, nil
	}
	catalogue, err := extension.Load()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(role.Spec.Extensions, func(name string) bool {
		found, known := catalogue.Find(name)
		return !known || len(found.Services) > 0
	}), nil
}
