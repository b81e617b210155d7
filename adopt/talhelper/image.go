// SPDX-License-Identifier: Apache-2.0

package talhelper

import (
	"fmt"

	"github.com/siderolabs/image-factory/pkg/schematic"
	"go.yaml.in/yaml/v3"

	"minos.dev/minos/adopt/template"
)

// kernelArgs are arguments that Talos before 1.12 is told at installation too, unless it boots by a UKI.
func (b *builder) kernelArgs() error {
	wanted, err := b.schematic()
	if err != nil {
		return err
	}
	arguments := wanted.Customization.ExtraKernelArgs
	if len(arguments) == 0 || b.fields.MachineSpec.UseUKI || b.contract.GrubUseUKICmdlineDefault() {
		return nil
	}
	return b.set(b.origin("schematic"), anyList(arguments), "machine", "install", "extraKernelArgs")
}

// schematic is that of the node; the one that asks for nothing if none is named.
func (b *builder) schematic() (*schematic.Schematic, error) {
	if !b.fields.Schematic.isSet {
		return &schematic.Schematic{}, nil
	}
	text, err := yaml.Marshal(b.fields.Schematic.value)
	if err != nil {
		return nil, err
	}
	wanted, err := schematic.Unmarshal(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.origin("schematic"), short(err))
	}
	return wanted, nil
}

// installer images by default.
const (
	defaultRegistry  = "factory.talos.dev"
	defaultInstaller = "{{.RegistryURL}}/{{.Mode}}-installer{{if .Secureboot}}-secureboot{{end}}/{{.ID}}:{{.Version}}"
)

// image is the installer image: the one that is named, or that of the schematic.
func (b *builder) image() error {
	version := b.reader.config.TalosVersion
	if b.fields.TalosImageURL != "" {
		return b.set(b.origin("talosImageURL"), b.fields.TalosImageURL+":"+version, "machine", "install", "image")
	}
	wanted, err := b.schematic()
	if err != nil {
		return err
	}
	id, err := wanted.ID()
	if err != nil {
		return fmt.Errorf("%s: %w", b.origin("schematic"), short(err))
	}
	b.source.Schematics[id] = wanted
	factory, mode := b.reader.config.ImageFactory, b.fields.MachineSpec.Mode
	form, registry := factory.InstallerURLTmpl, factory.RegistryURL
	if form == "" {
		form = defaultInstaller
	}
	if registry == "" {
		registry = defaultRegistry
	}
	if mode == "" {
		mode = "metal"
	}
	image, err := template.Render(form, map[string]any{
		"RegistryURL": registry, "ID": id, "Version": version, "Mode": mode, "Secureboot": b.fields.MachineSpec.Secureboot,
	}, template.Options{Strict: true})
	if err != nil {
		return fmt.Errorf("%s: %w", b.place.At("imageFactory", "installerURLTmpl"), err)
	}
	return b.set(b.origin("schematic"), image, "machine", "install", "image")
}
