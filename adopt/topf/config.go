// SPDX-License-Identifier: Apache-2.0

package topf

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/siderolabs/image-factory/pkg/schematic"
	"go.yaml.in/yaml/v3"

	"minos.dev/minos/adopt"
	"minos.dev/minos/adopt/patch"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/config"
)

// The two roles.
const (
	roleControlPlane = "control-plane"
	roleWorker       = "worker"
)

// A topfConfig is topf.yaml.
type topfConfig struct {
	ClusterName       string `yaml:"clusterName"`
	ClusterEndpoint   string `yaml:"clusterEndpoint"`
	KubernetesVersion string `yaml:"kubernetesVersion"`
	imageConfig       `yaml:",inline"`
	PatchesDir        string         `yaml:"patchesDir,omitempty"`
	ConfigDir         string         `yaml:"configDir,omitempty"`
	SecretsPath       string         `yaml:"secretsPath,omitempty"`
	SecretsProvider   string         `yaml:"secretsProvider,omitempty"`
	NodesProvider     string         `yaml:"nodesProvider,omitempty"`
	DataProvider      string         `yaml:"dataProvider,omitempty"`
	Data              map[string]any `yaml:"data,omitempty"`
	Nodes             []node         `yaml:"nodes"`
}

// A node is one machine.
type node struct {
	Host              string `yaml:"host"`
	IP                string `yaml:"ip,omitempty"`
	Role              string `yaml:"role"`
	imageConfig       `yaml:",inline"`
	Data              map[string]any `yaml:"data,omitempty"`
	KubernetesVersion string         `yaml:"kubernetesVersion,omitempty"`
}

// imageConfig is what decides the installer image: of the cluster, and of a node instead.
type imageConfig struct {
	TalosVersion string `yaml:"talosVersion,omitempty"`
	SchematicID  string `yaml:"schematicId,omitempty"`
	Factory      string `yaml:"factory,omitempty"`
	Platform     string `yaml:"platform,omitempty"`
	Secureboot   bool   `yaml:"secureboot,omitempty"`
}

// A reader is a folder while it is read.
type reader struct {
	folder *adopt.Folder
	dir    string
	place  adopt.Place
	config topfConfig
	given  adopt.Given
	source *adopt.Source
}

// Read reads a folder. It returns what topf would make of it, and the file with the secrets.
func Read(folder *adopt.Folder, given adopt.Given) (*adopt.Source, *adopt.File, error) {
	r := &reader{folder: folder, given: given, source: &adopt.Source{Tool: "topf", Schematics: maps.Clone(given.Schematics)}}
	if r.source.Schematics == nil {
		r.source.Schematics = map[string]*schematic.Schematic{}
	}
	r.source.Hide(slices.Sorted(maps.Values(given.Env))...)
	if err := r.readConfig(); err != nil {
		return nil, nil, err
	}
	if err := r.check(); err != nil {
		return nil, nil, err
	}
	r.providers()
	secrets, err := r.readSecrets()
	if err != nil {
		return nil, nil, err
	}
	for i := range r.config.Nodes {
		if err := r.readNode(i); err != nil {
			return nil, nil, err
		}
	}
	return r.source, secrets, nil
}

// readConfig reads topf.yaml.
func (r *reader) readConfig() error {
	name := r.given.Config
	if name == "" {
		name = "topf.yaml"
	}
	file, err := r.folder.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no %s in the folder", name)
	}
	if err != nil {
		return err
	}
	written, err := patch.Nodes(file.Text)
	if err != nil || len(written) != 1 {
		return fmt.Errorf("%s: is not a YAML mapping: %s", name, reason(err))
	}
	r.place, r.dir = adopt.Place{File: name, Root: written[0]}, path.Dir(name)
	if err := written[0].Decode(&r.config); err != nil {
		return fmt.Errorf("%s: %s", name, reason(err))
	}
	r.source.HideEncrypted(file, "data")
	r.unknown()
	return nil
}

// unknown notes keys that topf has no field for.
func (r *reader) unknown() {
	known := func(kind reflect.Type) map[string]bool {
		names := map[string]bool{"<<": true}
		for _, field := range reflect.VisibleFields(kind) {
			name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
			names[name] = true
		}
		return names
	}
	look := func(node *yaml.Node, names map[string]bool, path ...string) {
		if node == nil || node.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if key := node.Content[i].Value; !names[key] {
				r.source.Note(r.place.At(append(path[:len(path):len(path)], key)...), "is no field of machine configurations, and is not carried over")
			}
		}
	}
	look(r.place.Root, known(reflect.TypeFor[topfConfig]()))
	for i := range r.config.Nodes {
		look(adopt.Child(adopt.Child(r.place.Root, "nodes"), itoa(i)), known(reflect.TypeFor[node]()), "nodes", itoa(i))
	}
}

// check looks at what must be there.
func (r *reader) check() error {
	c := &r.config
	missing := map[string]bool{
		"clusterName": c.ClusterName == "", "clusterEndpoint": c.ClusterEndpoint == "", "kubernetesVersion": c.KubernetesVersion == "", "nodes": len(c.Nodes) == 0,
	}
	for _, field := range slices.Sorted(maps.Keys(missing)) {
		if missing[field] {
			return fmt.Errorf("%s: %s: must be set", r.place.File, field)
		}
	}
	switch {
	case c.ConfigDir != "":
		return fmt.Errorf("%s: topf refuses it since 0.4: call it patchesDir", r.place.At("configDir"))
	case c.TalosVersion == "":
		return fmt.Errorf("%s: is not set, and what topf takes then depends on its own version: set it to the version that the machines run", r.place.At("talosVersion"))
	}
	if err := adopt.TooMany(len(c.Nodes)); err != nil {
		return fmt.Errorf("%s: nodes: %w", r.place.File, err)
	}
	r.source.Talos = api.TalosVersion("v" + strings.TrimPrefix(c.TalosVersion, "v"))
	r.source.Kubernetes = api.KubernetesVersion("v" + strings.TrimPrefix(c.KubernetesVersion, "v"))
	contract, err := config.Contract(r.source.Talos)
	if err != nil || contract.Major != 1 || contract.Minor < 8 {
		return fmt.Errorf("%s: %q is not a version of Talos since 1.8", r.place.At("talosVersion"), c.TalosVersion)
	}
	return nil
}

// providers names the programs that would have more to say. None is executed.
func (r *reader) providers() {
	for _, one := range []struct{ field, program, what string }{
		{"nodesProvider", r.config.NodesProvider, "the machines that it adds are not known"},
		{"dataProvider", r.config.DataProvider, "the data that it adds are not known"},
		{"secretsProvider", r.config.SecretsProvider, "the secrets are read from a file instead"},
	} {
		if one.program != "" {
			r.source.Leave(r.place.At(one.field), "a program, and none is executed: "+one.what)
		}
	}
}

// readSecrets reads the bundle of secrets.
func (r *reader) readSecrets() (*adopt.File, error) {
	name := r.config.SecretsPath
	if name == "" {
		name = "secrets.yaml"
	}
	resolved, err := adopt.Resolve(r.dir, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.place.At("secretsPath"), err)
	}
	file, err := r.folder.Read(resolved)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no %s: without it there is no cluster to carry over", resolved)
	}
	if err != nil {
		return nil, err
	}
	if r.source.Bundle, err = adopt.LoadBundle(file.Text); err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name, err)
	}
	return file, nil
}

// address is where a machine is reached.
func (r *reader) address(i int) (string, error) {
	one := r.config.Nodes[i]
	for _, text := range []string{one.IP, one.Host} {
		if address, err := netip.ParseAddr(text); err == nil {
			return address.String(), nil
		}
	}
	return "", fmt.Errorf("%s: must be an IP address, which a MetalHost needs: write the address that %s has", r.place.At("nodes", itoa(i), "ip"), one.Host)
}

// reason is what a YAML library says, in one line.
func reason(err error) string {
	if err == nil {
		return "there must be one document"
	}
	return strings.ReplaceAll(strings.TrimPrefix(err.Error(), "yaml: "), "\n", " ")
}

func itoa(i int) string { return strconv.Itoa(i) }
