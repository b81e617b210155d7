// SPDX-License-Identifier: Apache-2.0

package topf

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/siderolabs/image-factory/pkg/schematic"
	"go.yaml.in/yaml/v3"

	"minos.dev/minos/adopt"
	"minos.dev/minos/adopt/patch"
	"minos.dev/minos/adopt/proof"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/fleet"
	"minos.dev/minos/talos/image"
	"minos.dev/minos/talos/redact"
)

// SecretsName is the file with the secrets of a folder that is written.
const SecretsName = "secrets.sops.yaml"

// A Written file is one file of a folder of topf.
type Written struct {
	// Text is what it holds.
	Text []byte
	// Secret says that it must not be readable.
	Secret bool
}

// An Export is a folder of topf, and how it compares with ours.
type Export struct {
	// Files are by their paths below the folder.
	Files map[string]Written
	// Left is what could not be carried over.
	Left []adopt.Remark
	// Machines is how many machines were compared.
	Machines int
	// Proof is the comparison: theirs is what topf would make of the folder.
	Proof proof.Result
}

// A writer is a folder while it is written.
type writer struct {
	fleet   *fleet.Fleet
	cluster *api.TalosCluster
	with    fleet.Secrets
	bundle  []byte
	config  topfConfig
	files   map[string]Written
	left    []adopt.Remark
	ours    map[string][]byte
	types   map[string]string // the role of each host
}

// Write makes a folder of topf from a cluster of ours, reads it back, and compares the configuration of every machine.
// Bundle is the secrets as the text of their file.
func Write(all *fleet.Fleet, cluster *api.TalosCluster, with fleet.Secrets, bundle []byte) (*Export, error) {
	w := &writer{
		fleet: all, cluster: cluster, with: with, bundle: bundle,
		files: map[string]Written{}, ours: map[string][]byte{}, types: map[string]string{},
	}
	for _, pool := range all.Pools(cluster) {
		if err := w.addPool(pool); err != nil {
			return nil, err
		}
	}
	if len(w.ours) == 0 {
		return nil, fmt.Errorf("cluster %s has no machines that exist already, and topf knows no others", cluster.Name)
	}
	if err := w.writeConfig(); err != nil {
		return nil, err
	}
	if err := w.writePatches(); err != nil {
		return nil, err
	}
	return w.prove()
}

// addPool adds the machines of a pool.
func (w *writer) addPool(pool *api.NodePool) error {
	if pool.Spec.Machine.Metal == nil {
		w.left = append(w.left, adopt.Remark{Origin: adopt.Origin{File: "NodePool " + pool.Name}, Text: "its machines are made on demand, and topf knows only machines that exist"})
		return nil
	}
	machines, err := w.fleet.Render(pool, w.with)
	if err != nil {
		return err
	}
	role, err := w.fleet.Role(pool)
	if err != nil {
		return err
	}
	picture, err := w.schematicOf(role)
	if err != nil {
		return err
	}
	kind := roleWorker
	if role.Spec.MachineType == api.MachineControlPlane {
		kind = roleControlPlane
	}
	for _, machine := range machines {
		w.ours[machine.Name], w.types[machine.Name] = machine.Config, kind
		one := node{Host: machine.Name, IP: string(machine.Address), Role: kind, imageConfig: imageConfig{
			SchematicID: picture, Secureboot: pool.Spec.Machine.Metal.SecureBoot == api.SecureBootEnabled,
		}}
		if pool.Spec.Architecture == api.ARM64 {
			one.Data = map[string]any{"arch": string(api.ARM64)}
		}
		w.config.Nodes = append(w.config.Nodes, one)
	}
	return nil
}

// schematicOf writes the schematic of a role as a file, and returns how topf names it; nothing for one that is empty.
func (w *writer) schematicOf(role *api.NodeRole) (string, error) {
	whole, err := image.Schematic(role, schematic.Schematic{})
	if err != nil {
		return "", err
	}
	text, err := whole.Marshal()
	if err != nil {
		return "", err
	}
	if len(role.Spec.Extensions)+len(role.Spec.KernelArgs) == 0 {
		return "", nil
	}
	name := "schematics/" + role.Name + ".yaml"
	w.files[name] = Written{Text: text}
	return "@" + name, nil
}

// writeConfig writes topf.yaml. What all machines share is said once.
func (w *writer) writeConfig() error {
	endpoint := w.cluster.Spec.Endpoint
	if endpoint == nil {
		return fmt.Errorf("cluster %s has no spec.endpoint, which topf needs", w.cluster.Name)
	}
	host := endpoint.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	c := &w.config
	c.ClusterName, c.KubernetesVersion = w.cluster.Name, string(w.cluster.Spec.KubernetesVersion)
	c.ClusterEndpoint = fmt.Sprintf("https://%s:%d", host, cmp.Or(endpoint.Port, 6443))
	c.TalosVersion, c.SecretsPath = string(w.cluster.Spec.TalosVersion), SecretsName
	if images := w.cluster.Spec.Images; images != nil && images.Factory != "" {
		c.Factory = strings.TrimPrefix(strings.TrimPrefix(string(images.Factory), "https://"), "http://")
	}
	first := c.Nodes[0].imageConfig
	if !slices.ContainsFunc(c.Nodes, func(n node) bool { return n.imageConfig != first }) {
		c.SchematicID, c.Secureboot = first.SchematicID, first.Secureboot
		for i := range c.Nodes {
			c.Nodes[i].imageConfig = imageConfig{}
		}
	}
	slices.SortStableFunc(c.Nodes, func(a, b node) int { return strings.Compare(a.Role, b.Role) }) // the control plane first
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(c), encoder.Close()); err != nil {
		return err
	}
	w.files["topf.yaml"] = Written{Text: b.Bytes()}
	return nil
}

// writePatches writes what leads from what topf makes without any patch to our configurations.
func (w *writer) writePatches() error {
	bare, err := w.read()
	if err != nil {
		return err
	}
	steps := map[string]*[]adopt.Step{}
	groups := map[string][]*[]adopt.Step{}
	for _, machine := range bare.Machines {
		ours, err := patch.Load(w.ours[machine.Name])
		if err != nil {
			return err
		}
		documents, err := patch.Diff(machine.Config, ours)
		if err != nil {
			w.left = append(w.left, adopt.Remark{Origin: adopt.Origin{File: "machine " + machine.Name}, Text: err.Error()})
			continue
		}
		own := pieces(documents)
		steps[machine.Name] = &own
		groups[w.types[machine.Name]] = append(groups[w.types[machine.Name]], &own)
	}
	names := slices.Sorted(maps.Keys(groups))
	lists := make([][]*[]adopt.Step, 0, len(names))
	for _, name := range names {
		lists = append(lists, groups[name])
	}
	all, perRole := adopt.Layers(lists, isOwn)
	if err := w.folder("all", all); err != nil {
		return err
	}
	for i, name := range names {
		if err := w.folder(name, perRole[i]); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(steps)) {
		if err := w.folder(path.Join("node", name), *steps[name]); err != nil {
			return err
		}
	}
	return nil
}

// folder writes steps as files, numbered in their order.
func (w *writer) folder(dir string, steps []adopt.Step) error {
	for i, step := range joined(steps) {
		text, err := step.YAML()
		if err != nil {
			return err
		}
		name := fmt.Sprintf("%s/%02d-%s.yaml", dir, i+1, step.Origin.File)
		w.files[name] = Written{Text: text, Secret: step.Holds(w.secrets())}
	}
	return nil
}

// secrets are the values that come from Secrets.
func (w *writer) secrets() []string {
	var all []string
	for _, value := range w.with.Values {
		if value != "" {
			all = append(all, value)
		}
	}
	return all
}

// read reads the folder as far as it is written, as topf would.
func (w *writer) read() (*adopt.Source, error) {
	files := fstest.MapFS{SecretsName: {Data: w.bundle}}
	for name, file := range w.files {
		files[name] = &fstest.MapFile{Data: file.Text}
	}
	source, _, err := Read(&adopt.Folder{FS: files}, adopt.Given{})
	if err != nil {
		return nil, fmt.Errorf("what was made cannot be read back: %w", err)
	}
	return source, nil
}

// prove compares what topf makes of the folder with ours.
func (w *writer) prove() (*Export, error) {
	source, err := w.read()
	if err != nil {
		return nil, err
	}
	theirs := map[string][]byte{}
	for _, machine := range source.Machines {
		theirs[machine.Name] = machine.Config.Text()
	}
	hidden := &redact.Redactor{}
	hidden.Learn(w.secrets()...)
	found, err := proof.Compare(theirs, w.ours, proof.Rules{Talos: w.cluster.Spec.TalosVersion, Secrets: hidden})
	return &Export{Files: w.files, Left: w.left, Machines: len(w.ours), Proof: found}, err
}
