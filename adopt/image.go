// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/siderolabs/image-factory/pkg/schematic"

	"minos.dev/minos/adopt/patch"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos"
	"minos.dev/minos/talos/extension"
	"minos.dev/minos/talos/image"
)

// An installer is the reference of an installer image, taken apart.
type installer struct {
	reference  string
	repository string // all before the schematic
	id         string // of the schematic; empty if the reference has another form
	secureBoot bool
}

var installerForm = regexp.MustCompile(`^(.+)/([0-9a-f]{64}):(v[^:/]+)$`)

// installerOf finds the installer image in a configuration.
func installerOf(config *patch.Config) installer {
	found := installer{reference: cmp.Or(
		text(config.Document("UnattendedInstallConfig"), "installer", "image"),
		text(config.Document(""), "machine", "install", "image"),
	)}
	if parts := installerForm.FindStringSubmatch(found.reference); parts != nil {
		found.repository, found.id = parts[1], parts[2]
		found.secureBoot = strings.HasSuffix(found.repository, "-secureboot")
	}
	return found
}

// imagesOf says where images come from, as far as all machines agree on it; nil for the public factory.
func imagesOf(machines []*Machine) *api.Images {
	repositories, hosts, names := map[string]bool{}, map[string]bool{}, map[string]bool{}
	var repository, host string
	for _, machine := range machines {
		repository = installerOf(machine.Config).repository
		var name string
		host, name, _ = strings.Cut(repository, "/")
		repositories[repository], hosts[host], names[strings.TrimSuffix(name, "-secureboot")] = true, true, true
	}
	delete(names, "installer") // the old name of the next
	delete(names, "metal-installer")
	switch plain := len(names) == 0; {
	case repository == "" || len(hosts) > 1 || plain && "https://"+host == image.PublicFactory:
		return nil
	case plain:
		return &api.Images{Factory: api.URL("https://" + host)}
	case len(repositories) == 1:
		return &api.Images{Installer: repository}
	}
	return nil
}

// A role is the role of a pool, as it will be declared or chosen.
type role struct {
	name    string
	builtin bool
	spec    api.NodeRoleSpec
	why     string // what of the image the role does not say
}

// roles finds roles for schematics.
type roles struct {
	known   talos.Roles
	builtin map[string][]api.Name // by schematic
	source  *Source
}

func newRoles(source *Source) (*roles, error) {
	known, err := talos.NewRoles()
	if err != nil {
		return nil, err
	}
	found := &roles{known: known, builtin: map[string][]api.Name{}, source: source}
	for _, name := range talos.BuiltinRoleNames() {
		resolved, err := known.Resolve(api.Name(name))
		if err != nil {
			return nil, err
		}
		id, err := idOf(resolved.Spec)
		if err != nil {
			return nil, err
		}
		found.builtin[id] = append(found.builtin[id], api.Name(name))
	}
	return found, nil
}

// idOf is the schematic of what a role says of its image.
func idOf(spec api.NodeRoleSpec) (string, error) {
	whole, err := image.Schematic(&api.NodeRole{Spec: api.NodeRoleSpec{Extensions: spec.Extensions, KernelArgs: spec.KernelArgs}}, schematic.Schematic{})
	if err != nil {
		return "", err
	}
	return whole.ID()
}

// of returns the role for machines with a schematic. What the role cannot say of the image stands in its why.
func (r *roles) of(id string, machine *Machine) role {
	base := role{name: "plain", builtin: true}
	if machine.ControlPlane {
		base.name = "control-plane"
	}
	found, known := r.source.Schematics[id]
	switch {
	case id == "":
		base.why = "the installer image is not one of an image factory, so that its extensions are not known"
		return base
	case !known && len(r.builtin[id]) == 0:
		base.why = "of the schematic only the ID is known, not its extensions (if you have it, give it with --schematic)"
		return base
	case !known:
		base.spec, _ = r.imageSpec(r.builtin[id][0])
		return base
	}
	spec := api.NodeRoleSpec{KernelArgs: found.Customization.ExtraKernelArgs}
	for _, name := range found.Customization.SystemExtensions.OfficialExtensions {
		spec.Extensions = append(spec.Extensions, strings.TrimPrefix(name, extension.Prefix))
	}
	if err := image.Check(&api.NodeRole{Spec: spec}, r.source.Talos, machine.Architecture); err != nil {
		base.why = "of the schematic: " + oneLine(err)
		return base
	}
	if _, err := idOf(spec); err != nil {
		base.why = "of the schematic: " + oneLine(err)
		return base
	}
	if beyond := beyondRole(found); beyond != "" {
		base.why = "the schematic has " + beyond + ", which a role cannot have"
	}
	base.spec = spec
	return base
}

// imageSpec is what a built-in role says of its image.
func (r *roles) imageSpec(name api.Name) (api.NodeRoleSpec, error) {
	resolved, err := r.known.Resolve(name)
	if err != nil {
		return api.NodeRoleSpec{}, err
	}
	return api.NodeRoleSpec{Extensions: resolved.Spec.Extensions, KernelArgs: resolved.Spec.KernelArgs}, nil
}

// beyondRole names what a schematic has beyond extensions and kernel arguments.
func beyondRole(found *schematic.Schematic) string {
	rest := *found
	rest.Customization.ExtraKernelArgs = nil
	rest.Customization.SystemExtensions.OfficialExtensions = nil
	switch id, err := rest.ID(); {
	case err == nil && id == emptySchematic():
		return ""
	case rest.Overlay.Name != "" || rest.Overlay.Image != "":
		return "an overlay"
	case len(rest.Customization.Meta) > 0:
		return "META values"
	}
	return "customization of its own"
}

// emptySchematic is the ID of the schematic that asks for nothing.
func emptySchematic() string {
	id, _ := (&schematic.Schematic{}).ID() // an empty one can always be written
	return id
}

// oneLine is an error without line breaks.
func oneLine(err error) string {
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}
