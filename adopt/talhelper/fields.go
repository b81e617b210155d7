// SPDX-License-Identifier: Apache-2.0

package talhelper

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"minos.dev/minos/adopt"
	"minos.dev/minos/adopt/patch"
	"minos.dev/minos/adopt/template"
)

// certSANs are names for certificates that talhelper hands to Talos's generator, and the old secret for etcd that it keeps.
func (b *builder) certSANs() error {
	c := b.reader.config
	with, err := b.generated(c.AdditionalAPIServerCertSans, nil)
	if err != nil {
		return err
	}
	b.become(with, b.place.At("additionalApiServerCertSans"))
	if with, err = b.generated(c.AdditionalAPIServerCertSans, c.AdditionalMachineCertSans); err != nil {
		return err
	}
	b.become(with, b.place.At("additionalMachineCertSans"))
	if secret := b.source.Bundle.Secrets.AESCBCEncryptionSecret; secret != "" {
		origin := adopt.Origin{File: b.secrets, Field: "secrets.aescbcencryptionsecret"}
		return b.set(origin, secret, "cluster", "aescbcEncryptionSecret")
	}
	return nil
}

// oldNetwork is the network settings of Talos before 1.12, which has documents for them.
func (b *builder) oldNetwork() error {
	if b.contract.MultidocNetworkConfigSupported() {
		return nil
	}
	if !b.node.IgnoreHostname {
		if err := b.set(b.place.At("nodes", itoa(b.index), "hostname"), b.node.Hostname, "machine", "network", "hostname"); err != nil {
			return err
		}
	}
	if len(b.fields.Nameservers) > 0 {
		if err := b.set(b.origin("nameservers"), anyList(b.fields.Nameservers), "machine", "network", "nameservers"); err != nil {
			return err
		}
	}
	if b.fields.DisableSearchDomain {
		if err := b.set(b.origin("disableSearchDomain"), true, "machine", "network", "disableSearchDomain"); err != nil {
			return err
		}
	}
	if len(b.fields.NetworkInterfaces) > 0 {
		return b.set(b.origin("networkInterfaces"), anyList(b.fields.NetworkInterfaces), "machine", "network", "interfaces")
	}
	return nil
}

// disks are where Talos is installed, and what else is on disks.
func (b *builder) disks() error {
	node := []string{"nodes", itoa(b.index)}
	if b.node.InstallDisk != "" {
		if err := b.set(b.place.At(append(node, "installDisk")...), b.node.InstallDisk, "machine", "install", "disk"); err != nil {
			return err
		}
	}
	if b.node.InstallDiskSelector.isSet {
		// Talos's generator names a disk of its own, which the selector is meant instead of.
		if err := b.set(b.place.At(append(node, "installDiskSelector")...), b.node.InstallDiskSelector.value, "machine", "install", "diskSelector"); err != nil {
			return err
		}
	}
	if b.fields.MachineDisks.isSet {
		return b.set(b.origin("machineDisks"), b.fields.MachineDisks.value, "machine", "disks")
	}
	return nil
}

// settings are the fields that talhelper writes into the one old document, each in place of what Talos generates.
func (b *builder) settings() error {
	if b.fields.KernelModules.isSet && len(list(b.fields.KernelModules.value)) > 0 {
		if err := b.set(b.origin("kernelModules"), b.fields.KernelModules.value, "machine", "kernel", "modules"); err != nil {
			return err
		}
	}
	for _, one := range []struct {
		name  string
		value map[string]string
	}{{"nodeAnnotations", literals(b.fields.NodeAnnotations)}, {"nodeLabels", literals(b.fields.NodeLabels)}, {"nodeTaints", b.fields.NodeTaints}} {
		if one.value == nil {
			continue
		}
		if err := b.set(b.origin(one.name), anyMap(one.value), "machine", one.name); err != nil {
			return err
		}
	}
	if err := b.files(); err != nil {
		return err
	}
	if err := b.kernelArgs(); err != nil {
		return err
	}
	if len(b.fields.CertSANs) == 0 {
		return nil
	}
	names := append(list(patch.Get(b.config.Document(""), "machine", "certSANs")), anyList(b.fields.CertSANs)...)
	return b.set(b.origin("certSANs"), names, "machine", "certSANs")
}

// files are files that Talos writes on the machine.
func (b *builder) files() error {
	var all []any
	for i, file := range b.fields.MachineFiles {
		content, hidden, err := b.content(file.Content, file.SkipEnvsubst)
		if err != nil {
			return fmt.Errorf("%s: [%d]: %w", b.origin("machineFiles"), i, err)
		}
		if hidden {
			b.source.Hide(content)
		}
		all = append(all, patch.Document{"content": content, "permissions": file.Permissions, "path": file.Path, "op": file.Op})
	}
	if len(all) == 0 {
		return nil
	}
	return b.set(b.origin("machineFiles"), all, "machine", "files")
}

// content is a text, or that of a file whose name stands behind an "@". Files are read as YAML and written anew by
// talhelper to fill in variables, so that a file of several lines that is no YAML does not survive; here it does not
// either.
func (b *builder) content(value string, skip bool) (content string, hidden bool, err error) {
	name, isFile := strings.CutPrefix(value, "@")
	if !isFile || strings.TrimSpace(name) == "" {
		return value, false, nil
	}
	file, err := b.file(name)
	if err != nil {
		return "", false, err
	}
	if isDotenv(file.Text) {
		return "", false, fmt.Errorf("%s: is encrypted by SOPS in a format that is not YAML, which is not supported here", file.Name)
	}
	if skip {
		return string(file.Text), file.Encrypted, nil
	}
	text, err := substituted(file.Text, b.variables)
	if err != nil {
		return "", false, fmt.Errorf("%s: %s", file.Name, reason(err))
	}
	return string(text), file.Encrypted, nil
}

// isDotenv says whether a text is a file of variables, or of sections, that SOPS encrypted.
func isDotenv(text []byte) bool {
	return strings.Contains(string(text), "sops_mac=") || strings.Contains(string(text), "\n[sops]")
}

// templates fills in labels and annotations that are templates, with the configuration so far as their data.
func (b *builder) templates() error {
	facts := b.config.V1Alpha1().DeepCopy()
	for _, one := range []struct {
		name   string
		values map[string]string
	}{{"nodeLabels", b.fields.NodeLabels}, {"nodeAnnotations", b.fields.NodeAnnotations}} {
		rendered := patch.Document{}
		for _, key := range slices.Sorted(maps.Keys(one.values)) {
			if !isTemplate(one.values[key]) {
				continue
			}
			text, err := template.Render(one.values[key], facts, template.Options{})
			if err != nil {
				return fmt.Errorf("%s: %s: %w", b.origin(one.name), key, err)
			}
			rendered[key] = text
		}
		if len(rendered) == 0 {
			continue
		}
		if err := b.merge(b.origin(one.name), patch.Document{"machine": patch.Document{one.name: rendered}}); err != nil {
			return err
		}
		b.steps[len(b.steps)-1].Rendered = true
	}
	return nil
}

// cluster are fields of the whole cluster that talhelper writes into every machine.
func (b *builder) cluster() error {
	c := b.reader.config
	if c.CNIConfig.isSet && c.CNIConfig.value != nil {
		if err := b.set(b.place.At("cniConfig"), c.CNIConfig.value, "cluster", "network", "cni"); err != nil {
			return err
		}
	}
	var manifests []any
	for i, manifest := range c.InlineManifests {
		content, hidden, err := b.content(manifest.Contents, manifest.SkipEnvsubst)
		if err != nil {
			return fmt.Errorf("%s: %w", b.place.At("inlineManifests", itoa(i)), err)
		}
		if hidden {
			b.source.Hide(content)
		}
		manifests = append(manifests, patch.Document{"name": manifest.Name, "contents": content})
	}
	if len(manifests) == 0 {
		return nil
	}
	return b.set(b.place.At("inlineManifests"), manifests, "cluster", "inlineManifests")
}

// isTemplate is what talhelper takes for one.
func isTemplate(text string) bool {
	return strings.Contains(text, "{{") || strings.Contains(text, "}}")
}

// literals are the values that are no templates.
func literals(values map[string]string) map[string]string {
	if values == nil {
		return nil
	}
	found := map[string]string{}
	for key, value := range values {
		if !isTemplate(value) {
			found[key] = value
		}
	}
	return found
}

func anyMap(values map[string]string) patch.Document {
	all := patch.Document{}
	for key, value := range values {
		all[key] = value
	}
	return all
}

func anyList[T any](values []T) []any {
	all := make([]any, 0, len(values))
	for _, value := range values {
		all = append(all, any(value))
	}
	return all
}

// dirOf is the folder that relative names in talconfig are relative to.
func (b *builder) dirOf() string { return path.Clean(b.dir) }
