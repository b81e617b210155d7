// SPDX-License-Identifier: Apache-2.0

package talhelper

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"go.yaml.in/yaml/v3"

	"minos.dev/minos/adopt"
	"minos.dev/minos/adopt/patch"
	"minos.dev/minos/adopt/template"
)

// documents are the documents that talhelper makes from fields, by the field.
func (b *builder) documents() error {
	multi := b.contract.MultidocNetworkConfigSupported()
	if multi {
		if err := b.newNetwork(); err != nil {
			return err
		}
	}
	if err := b.firewall(); err != nil {
		return err
	}
	if err := b.named(); err != nil {
		return err
	}
	if !multi || len(b.fields.NetworkInterfaces) == 0 {
		return nil
	}
	origin := b.origin("networkInterfaces")
	all, err := networkDocuments(b.fields.NetworkInterfaces)
	if err != nil {
		return fmt.Errorf("%s: %w", origin, err)
	}
	b.lost(origin)
	return b.merge(origin, all...)
}

// firewall is the ingress firewall. Without a word it lets everything in.
func (b *builder) firewall() error {
	firewall := b.fields.IngressFirewall
	if firewall == nil {
		return nil
	}
	all := []patch.Document{document("NetworkDefaultActionConfig", "", patch.Document{"ingress": cmp.Or(firewall.DefaultAction, "accept")})}
	for _, rule := range firewall.Rules {
		all = append(all, document("NetworkRuleConfig", "", chosen(rule, "name", "portSelector", "ingress")))
	}
	return b.merge(b.origin("ingressFirewall"), all...)
}

// named are lists of which each item is a document.
func (b *builder) named() error {
	for _, one := range []struct {
		field, kind string
		values      []map[string]any
		known       []string
	}{
		{"extensionServices", "ExtensionServiceConfig", b.fields.ExtensionServices, []string{"name", "configFiles", "environment"}},
		{"volumes", "VolumeConfig", b.fields.Volumes, []string{"name", "provisioning", "encryption"}},
		{"userVolumes", "UserVolumeConfig", b.fields.UserVolumes, []string{"name", "volumeType", "provisioning", "filesystem", "encryption"}},
	} {
		for _, value := range one.values {
			if err := b.merge(b.origin(one.field), document(one.kind, "", chosen(value, one.known...))); err != nil {
				return err
			}
		}
	}
	return nil
}

// newNetwork is the host name and the name servers, as documents.
func (b *builder) newNetwork() error {
	if len(b.fields.Nameservers) > 0 || b.fields.DisableSearchDomain {
		fields := patch.Document{"searchDomains": patch.Document{"disableDefault": b.fields.DisableSearchDomain}}
		var servers []any
		for _, server := range b.fields.Nameservers {
			servers = append(servers, patch.Document{"address": server})
		}
		setIf(fields, "nameservers", servers)
		field := "nameservers"
		if len(servers) == 0 {
			field = "disableSearchDomain"
		}
		if err := b.merge(b.origin(field), document("ResolverConfig", "", fields)); err != nil {
			return err
		}
	}
	name := patch.Document{"auto": "off", "hostname": b.node.Hostname}
	if b.node.IgnoreHostname {
		name = patch.Document{"auto": "stable"}
	}
	return b.merge(b.place.At("nodes", itoa(b.index), "hostname"), document("HostnameConfig", "", name))
}

// lost names what talhelper itself drops of an interface.
func (b *builder) lost(origin adopt.Origin) {
	for i, fields := range b.fields.NetworkInterfaces {
		for _, name := range []string{"ignore", "dummy", "bridgePort", "cidr"} {
			if said(fields[name]) && fields[name] != false {
				b.source.Note(origin, fmt.Sprintf("[%d].%s: talhelper writes nothing for it since Talos 1.12", i, name))
			}
		}
	}
}

// chosen are the fields that talhelper knows.
func chosen(fields patch.Document, known ...string) patch.Document {
	found := patch.Document{}
	for _, key := range known {
		if value, ok := fields[key]; ok {
			found[key] = value
		}
	}
	return found
}

// file reads a file that talconfig names.
func (b *builder) file(name string) (*adopt.File, error) {
	resolved, err := adopt.Resolve(b.dirOf(), name)
	if err != nil {
		return nil, err
	}
	file, err := b.folder.Read(resolved)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file %s", resolved)
	}
	return file, err
}

// patches are those of the group and of the node, and then those of the cluster. The data of templates are the
// configuration before the first patch of each.
func (b *builder) patches() error {
	before := len(b.fields.Patches) - len(b.node.Patches)
	facts := b.config.V1Alpha1().DeepCopy()
	for i, text := range b.fields.Patches {
		path := []string{"nodes", itoa(b.index), "patches", itoa(i - before)}
		if i < before {
			path = []string{b.group(), "patches", itoa(i)}
		}
		if err := b.patch(text, path, facts); err != nil {
			return err
		}
	}
	facts = b.config.V1Alpha1().DeepCopy()
	for i, text := range b.reader.config.Patches {
		if err := b.patch(text, []string{"patches", itoa(i)}, facts); err != nil {
			return err
		}
	}
	return nil
}

// patch applies one patch, which is a text or the name of a file.
func (b *builder) patch(text string, path []string, facts any) error {
	origin := b.place.At(path...)
	hidden, written, scope := false, text, scopeOf(origin)
	if name, isFile := strings.CutPrefix(text, "@"); isFile {
		file, err := b.file(name)
		if err != nil {
			return fmt.Errorf("%s: %w", origin, err)
		}
		origin = adopt.Origin{File: file.Name}
		if strings.TrimSpace(string(file.Text)) == "" {
			return nil
		}
		hidden, written = file.Encrypted, string(file.Text)
		b.source.HideEncrypted(file, "")
		rendered, err := template.Render(written, facts, template.Options{})
		if err != nil {
			return fmt.Errorf("%s: %w", origin, err)
		}
		filled, err := substituted([]byte(rendered), b.variables)
		if err != nil {
			return fmt.Errorf("%s: %s", origin, reason(err))
		}
		text = string(filled)
	} else {
		rendered, err := template.Render(text, facts, template.Options{})
		if err != nil {
			return fmt.Errorf("%s: %w", origin, err)
		}
		if text = rendered; isFileName(text) {
			file, err := b.file(text)
			if err != nil {
				return fmt.Errorf("%s: %w", origin, err)
			}
			origin, text, written = adopt.Origin{File: file.Name}, string(file.Raw), string(file.Raw)
		}
	}
	return b.apply(text, written, adopt.Step{
		Origin: origin, Scope: scope, Hidden: hidden, Rendered: template.Has(written), Remark: b.place.Remark(path...),
	})
}

// isFileName says whether Talos's own loader takes a patch for the name of a file, although there is no "@" before it. Such a
// file is read as it is.
func isFileName(text string) bool {
	return text != "" && !strings.ContainsAny(text, "\n ") && !strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "{")
}

// apply applies the text of a patch. What was written is where its comments are.
func (b *builder) apply(text, written string, step adopt.Step) error {
	origin := step.Origin
	after, err := b.config.Apply([]byte(text))
	if err != nil {
		return fmt.Errorf("%s: %w", origin, short(err))
	}
	nodes, err := patch.Nodes([]byte(text))
	if err != nil {
		return fmt.Errorf("%s: %w", origin, short(err))
	}
	if len(nodes) == 1 && nodes[0].Kind == yaml.SequenceNode { // operations by RFC 6902: our kinds take their effect
		before := len(b.steps)
		b.become(after, origin)
		for i := range b.steps[before:] {
			step.Patches = b.steps[before+i].Patches
			b.steps[before+i] = step
		}
		return nil
	}
	if step.Patches, err = adopt.ParsePatches(text, written); err != nil {
		return fmt.Errorf("%s: %w", origin, err)
	}
	b.config = after
	if len(step.Patches) > 0 {
		b.steps = append(b.steps, step)
	}
	return nil
}

// extraDocuments are documents of files, which talhelper appends as they are.
func (b *builder) extraDocuments() error {
	for _, name := range b.fields.ExtraManifests {
		origin := b.origin("extraManifests")
		file, err := b.file(strings.TrimPrefix(name, "@"))
		if err != nil {
			return fmt.Errorf("%s: %w", origin, err)
		}
		text, err := template.Render(string(file.Text), b.config.V1Alpha1().DeepCopy(), template.Options{})
		if err != nil {
			return fmt.Errorf("%s: %w", file.Name, err)
		}
		step := adopt.Step{Origin: adopt.Origin{File: file.Name}, Scope: scopeOf(origin), Hidden: file.Encrypted}
		if err := b.apply(text, text, step); err != nil {
			return err
		}
	}
	return nil
}
