// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"regexp"
	"slices"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
)

// InstallImage is the image by which the machine is installed, by the old field or the new document; empty if none is named.
func (m *Machine) InstallImage() string {
	if m.Config == nil {
		return ""
	}
	if install := m.Config.UnattendedInstallConfig(); install != nil && install.InstallerImage() != "" {
		return install.InstallerImage()
	}
	if raw := m.Config.RawV1Alpha1(); raw != nil && raw.MachineConfig != nil && raw.MachineConfig.MachineInstall != nil {
		return raw.MachineConfig.MachineInstall.InstallImage
	}
	return ""
}

// installer is an installer image of a factory: platform, SecureBoot, schematic and version.
var installer = regexp.MustCompile(`/(?:([a-z0-9]+)-)?installer(-secureboot)?/([0-9a-f]{64}):(v[0-9][^@]*)`)

// plain is the installer image without extensions.
var plain = regexp.MustCompile(`siderolabs/installer(?:-base)?:(v[0-9][^@]*)`)

// vanilla is the identity of a schematic that says nothing.
const vanilla = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"

// recognise fills in what a configuration without a declaration tells about its machine: what kind it is, and from the name of
// its image what is in that.
func (m *Machine) recognise(schematics []*SchematicFact) {
	if m.Config == nil {
		for _, document := range m.Documents {
			m.ControlPlane = m.ControlPlane || document.String("machine.type") == "controlplane"
		}
		return
	}
	if machine := m.Config.Machine(); machine != nil {
		m.ControlPlane = machine.Type().IsControlPlane()
	}
	image := m.InstallImage()
	if found := plain.FindStringSubmatch(image); found != nil {
		m.TalosVersion, m.ExtensionsKnown = api.TalosVersion(found[1]), true
	}
	if found := installer.FindStringSubmatch(image); found != nil {
		m.Platform, m.TalosVersion = found[1], api.TalosVersion(found[4])
		m.extensions(found[3], schematics)
	}
	if m.KubernetesVersion == "" {
		m.KubernetesVersion = m.kubelet()
	}
}

// kubelet is the version of the kubelet that the configuration names; empty if it names none, in which case Talos's library would
// answer with its own.
func (m *Machine) kubelet() api.KubernetesVersion {
	for _, document := range m.Documents {
		image := document.String("machine.kubelet.image")
		if document.Kind() == "KubeletConfig" {
			image = document.String("image")
		}
		if _, version, ok := strings.Cut(image, ":v"); ok {
			version, _, _ = strings.Cut(version, "@")
			return api.KubernetesVersion("v" + version)
		}
	}
	return ""
}

// extensions finds out what a schematic's identity stands for: nothing, or a schematic of the folder.
func (m *Machine) extensions(id string, schematics []*SchematicFact) {
	if id == vanilla {
		m.ExtensionsKnown = true
		return
	}
	for _, schematic := range schematics {
		if schematic.ID == id {
			m.Extensions, m.ExtensionsKnown = slices.Sorted(slices.Values(schematic.Extensions())), true
			return
		}
	}
}
