// SPDX-License-Identifier: Apache-2.0

package topf

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"

	"github.com/siderolabs/image-factory/pkg/schematic"

	"minos.dev/minos/adopt"
	"minos.dev/minos/adopt/patch"
	"minos.dev/minos/adopt/template"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/config"
)

// topf's defaults.
const (
	defaultFactory  = "factory.talos.dev"
	defaultPlatform = "metal"
	defaultDisk     = "/dev/sda"
)

// A builder is a machine in the making.
type builder struct {
	*reader
	contract  *talosconfig.VersionContract
	node      node
	image     imageConfig // the node's with the cluster's
	schematic string
	config    *patch.Config
	steps     []adopt.Step
}

// readNode makes the configuration of a machine and adds it.
func (r *reader) readNode(i int) error {
	one, origin := r.config.Nodes[i], r.place.At("nodes", itoa(i))
	if one.Host == "" || !fs.ValidPath(one.Host) || strings.Contains(one.Host, "/") {
		return fmt.Errorf("%s: host %q is not the name of a machine", origin, one.Host)
	}
	if one.Role != roleControlPlane && one.Role != roleWorker {
		return fmt.Errorf("%s: role %q is not %s or %s", origin, one.Role, roleControlPlane, roleWorker)
	}
	address, err := r.address(i)
	if err != nil {
		return err
	}
	contract, err := config.Contract(r.source.Talos)
	if err != nil {
		return err
	}
	b := &builder{reader: r, contract: contract, node: one, image: over(one.imageConfig, r.config.imageConfig)}
	for _, phase := range []func() error{b.resolve, b.generate, b.installer, b.patches} {
		if err := phase(); err != nil {
			return err
		}
	}
	r.source.Machines = append(r.source.Machines, &adopt.Machine{
		Name: one.Host, Address: address, ControlPlane: one.Role == roleControlPlane, Architecture: r.architecture(one),
		Steps: b.steps, Config: b.config, Origin: origin,
	})
	return nil
}

// over is what decides the image of a node.
func over(own, cluster imageConfig) imageConfig {
	return imageConfig{
		TalosVersion: cmp.Or(own.TalosVersion, cluster.TalosVersion), SchematicID: cmp.Or(own.SchematicID, cluster.SchematicID),
		Factory: cmp.Or(own.Factory, cluster.Factory, defaultFactory), Platform: cmp.Or(own.Platform, cluster.Platform, defaultPlatform),
		Secureboot: own.Secureboot || cluster.Secureboot,
	}
}

// architecture is that of a machine, of which topf knows nothing.
func (r *reader) architecture(one node) api.Architecture {
	for _, key := range []string{"arch", "architecture"} {
		if one.Data[key] == string(api.ARM64) {
			return api.ARM64
		}
	}
	r.source.Note(adopt.Origin{File: r.place.File}, "topf does not know architectures: amd64 is assumed for machines without data.arch")
	return api.AMD64
}

// resolve computes the ID of the schematic.
func (b *builder) resolve() error {
	if b.image.SchematicID == "" {
		wanted := &schematic.Schematic{}
		id, err := wanted.ID()
		b.schematic, b.source.Schematics[id] = id, wanted
		return err
	}
	name, isFile := strings.CutPrefix(b.image.SchematicID, "@")
	if !isFile {
		b.schematic = b.image.SchematicID
		return nil
	}
	resolved, err := adopt.Resolve(b.dir, name)
	if err != nil {
		return fmt.Errorf("%s: schematicId: %w", b.place.File, err)
	}
	file, err := b.folder.Read(resolved)
	if err != nil {
		return fmt.Errorf("%s: schematicId: %w", b.place.File, err)
	}
	text := string(file.Text)
	if strings.HasSuffix(resolved, ".tpl") {
		if text, err = template.Render(text, b.data(), template.Options{Env: b.given.Env, Strict: true}); err != nil {
			return fmt.Errorf("%s: %w", resolved, err)
		}
	}
	wanted, err := schematic.Unmarshal([]byte(text))
	if err != nil {
		return fmt.Errorf("%s: %s", resolved, reason(err))
	}
	if b.schematic, err = wanted.ID(); err != nil {
		return fmt.Errorf("%s: %s", resolved, reason(err))
	}
	b.source.Schematics[b.schematic] = wanted
	return nil
}

// generate is what Talos makes itself.
func (b *builder) generate() error {
	version := strings.TrimPrefix(cmp.Or(b.node.KubernetesVersion, b.reader.config.KubernetesVersion), "v")
	input, err := generate.NewInput(b.reader.config.ClusterName, b.reader.config.ClusterEndpoint, version,
		generate.WithSecretsBundle(b.source.Bundle), generate.WithVersionContract(b.contract))
	if err != nil {
		return fmt.Errorf("%s: %w", b.place.File, err)
	}
	kind := machine.TypeWorker
	if b.node.Role == roleControlPlane {
		kind = machine.TypeControlPlane
	}
	provider, err := input.Config(kind)
	if err != nil {
		return fmt.Errorf("%s: %s", b.place.File, reason(err))
	}
	b.config, err = patch.Of(provider)
	return err
}

// installer is the patch that topf makes itself: the image, and since Talos 1.14 a disk, because the document needs one.
func (b *builder) installer() error {
	name := b.image.Platform + "-installer"
	if b.image.Secureboot {
		name += "-secureboot"
	}
	image := fmt.Sprintf("%s/%s/%s:v%s", b.image.Factory, name, b.schematic, strings.TrimPrefix(b.image.TalosVersion, "v"))
	fields := patch.Document{"machine": patch.Document{"install": patch.Document{"image": image}}}
	if b.contract.UnattendedInstallConfig() {
		fields = patch.Document{
			"apiVersion": "v1alpha1", "kind": "UnattendedInstallConfig", "installer": patch.Document{"image": image},
			"provisioning": patch.Document{
				"diskSelector": patch.Document{"match": fmt.Sprintf("disk.dev_path == %q", defaultDisk)}, "wipe": false,
			},
		}
	}
	after, err := b.config.Merge(fields)
	if err != nil {
		return fmt.Errorf("%s: %s", b.place.File, reason(err))
	}
	b.config = after
	b.steps = append(b.steps, adopt.Step{Origin: b.place.At("schematicId"), Scope: adopt.ScopeCluster, Patches: []adopt.Patch{{Fields: fields}}})
	return nil
}

// patches are those of all machines, of the role and of the machine.
func (b *builder) patches() error {
	root := b.dir
	if b.reader.config.PatchesDir != "" {
		resolved := path.Join(b.dir, b.reader.config.PatchesDir)
		if path.IsAbs(b.reader.config.PatchesDir) || !fs.ValidPath(resolved) {
			return fmt.Errorf("%s: %q leads out of the folder, and nothing outside is read", b.place.At("patchesDir"), b.reader.config.PatchesDir)
		}
		root = resolved
	}
	for _, one := range []struct {
		dir   string
		scope adopt.Scope
	}{{"all", adopt.ScopeCluster}, {b.node.Role, adopt.ScopeGroup}, {path.Join("node", b.node.Host), adopt.ScopeMachine}} {
		files, err := b.list(path.Join(root, one.dir))
		if err != nil {
			return err
		}
		for _, name := range files {
			if err := b.patch(name, one.scope); err != nil {
				return err
			}
		}
	}
	return nil
}

// list are the patches of a folder and of folders in it, in the order of their names.
func (b *builder) list(dir string) ([]string, error) {
	var files []string
	err := fs.WalkDir(b.folder.FS, dir, func(name string, entry fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case entry.IsDir():
		case strings.Contains(base, ".yaml") || strings.Contains(base, ".yml"): // wherever it stands in the name: so topf
			files = append(files, name)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be read: %w", dir, err)
	}
	return files, nil
}

// patch applies the patches of one file.
func (b *builder) patch(name string, scope adopt.Scope) error {
	step := adopt.Step{Origin: adopt.Origin{File: name}, Scope: scope}
	file, err := b.folder.Read(name)
	if err != nil {
		return err
	}
	written, text := string(file.Text), string(file.Text)
	if strings.HasSuffix(name, ".tpl") {
		written = string(file.Raw) // topf does not decrypt templates
		if text, err = template.Render(written, b.data(), template.Options{Env: b.given.Env, Strict: true}); err != nil {
			return fmt.Errorf("%s: for %s: %w", name, b.node.Host, err)
		}
		step.Rendered = template.Has(written)
	} else {
		step.Hidden = file.Encrypted
		b.source.HideEncrypted(file, "")
	}
	if step.Patches, err = adopt.ParsePatches(text, written); err != nil {
		return fmt.Errorf("%s: %s", name, reason(err))
	}
	if len(step.Patches) == 0 {
		return nil
	}
	if strings.Contains(text, "ref+") {
		b.source.Leave(step.Origin, "refers to another store of secrets by vals (ref+…), and none is asked")
		return nil
	}
	for _, one := range step.Patches {
		after, err := b.config.Merge(one.Fields)
		if err != nil {
			return fmt.Errorf("%s: for %s: %s", name, b.node.Host, reason(err))
		}
		b.config = after
	}
	b.steps = append(b.steps, step)
	return nil
}

// data are what templates can use. What a machine that runs would say is what is declared for it.
func (b *builder) data() map[string]any {
	c := b.reader.config
	own := map[string]any{
		"Host": b.node.Host, "Role": b.node.Role, "IP": b.node.IP, "Data": orEmpty(b.node.Data),
		"TalosVersion": b.node.TalosVersion, "SchematicID": b.node.SchematicID, "Factory": b.node.Factory,
		"Platform": b.node.Platform, "SecureBoot": b.node.Secureboot,
		"RuntimeData": map[string]any{
			"TalosVersion": strings.TrimPrefix(c.TalosVersion, "v"), "SchematicID": b.schematic, "Stage": "running",
		},
	}
	return map[string]any{
		"ClusterName": c.ClusterName, "ClusterEndpoint": c.ClusterEndpoint, "KubernetesVersion": c.KubernetesVersion,
		"TalosVersion": c.TalosVersion, "SchematicID": b.schematic, "Data": orEmpty(c.Data), "Node": own,
	}
}

func orEmpty(data map[string]any) map[string]any {
	if data == nil {
		return map[string]any{}
	}
	return data
}
