// SPDX-License-Identifier: Apache-2.0

package talhelper

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/siderolabs/image-factory/pkg/schematic"
	"go.yaml.in/yaml/v3"

	"minos.dev/minos/adopt"
	"minos.dev/minos/adopt/patch"
	api "minos.dev/minos/api/v1alpha1"
)

// assumedTalos is the version that talhelper v3.1.16 takes where talconfig names none.
const assumedTalos = "v1.13.8"

// The names of talhelper's files. Of variables all files count and of secrets the last one that is there, as in talhelper's
// own code.
var (
	configNames = []string{"talconfig.yaml", "talconfig.yml"}
	envNames    = []string{"talenv.yaml", "talenv.sops.yaml", "talenv.yml", "talenv.sops.yml"}
	secretNames = []string{"talsecret.yaml", "talsecret.sops.yaml", "talsecret.yml", "talsecret.sops.yml"}
)

// A reader is a folder while it is read.
type reader struct {
	folder    *adopt.Folder
	dir       string
	place     adopt.Place
	config    talconfig
	variables map[string]string
	secrets   string // the name of their file
	source    *adopt.Source
}

// Read reads a folder. It returns what talhelper would make of it, and the file with the secrets.
func Read(folder *adopt.Folder, given adopt.Given) (*adopt.Source, *adopt.File, error) {
	r := &reader{folder: folder, source: &adopt.Source{Tool: "talhelper", Schematics: maps.Clone(given.Schematics)}}
	if r.source.Schematics == nil {
		r.source.Schematics = map[string]*schematic.Schematic{}
	}
	if err := r.readConfig(given); err != nil {
		return nil, nil, err
	}
	if err := r.check(); err != nil {
		return nil, nil, err
	}
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

// readConfig reads talconfig with its variables filled in.
func (r *reader) readConfig(given adopt.Given) error {
	names := configNames
	if given.Config != "" {
		names = []string{given.Config}
	}
	file, err := r.firstOf(names)
	if err != nil {
		return err
	}
	r.dir = path.Dir(file.Name)
	if err := r.readVariables(given.Env); err != nil {
		return err
	}
	written, err := patch.Nodes(file.Text)
	if err != nil || len(written) != 1 {
		return fmt.Errorf("%s: is not a YAML mapping: %s", file.Name, reason(err))
	}
	r.place = adopt.Place{File: file.Name, Root: written[0]}
	text, err := substituted(file.Text, r.variables)
	if err != nil {
		return fmt.Errorf("%s: %s", file.Name, reason(err))
	}
	if err := yaml.Unmarshal(text, &r.config); err != nil {
		return fmt.Errorf("%s: %s", file.Name, reason(err))
	}
	for _, path := range unknownFields(written[0]) {
		r.source.Note(r.place.At(path...), "talhelper has no such field and ignores it")
	}
	return nil
}

// reason is what a YAML library says, in one line.
func reason(err error) string {
	if err == nil {
		return "there must be one document"
	}
	return strings.ReplaceAll(strings.TrimPrefix(err.Error(), "yaml: "), "\n", " ")
}

// firstOf reads the first of some files that is there.
func (r *reader) firstOf(names []string) (*adopt.File, error) {
	for _, name := range names {
		file, err := r.folder.Read(name)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return file, err
		}
	}
	return nil, fmt.Errorf("there is no %s in the folder", strings.Join(names, " and no "))
}

// readVariables reads the files of variables.
func (r *reader) readVariables(given map[string]string) error {
	r.variables = maps.Clone(given)
	if r.variables == nil {
		r.variables = map[string]string{}
	}
	r.source.Hide(slices.Sorted(maps.Values(given))...)
	for _, name := range envNames {
		file, err := r.folder.Read(path.Join(r.dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		found, err := parseEnv(string(file.Text))
		if err != nil {
			return fmt.Errorf("%s: %w", file.Name, err)
		}
		maps.Copy(r.variables, found)
		if file.Encrypted {
			r.source.Hide(slices.Sorted(maps.Values(found))...)
		}
	}
	return nil
}

// check looks at what must be there.
func (r *reader) check() error {
	c := &r.config
	missing := map[string]bool{
		"clusterName": c.ClusterName == "", "endpoint": c.Endpoint == "", "kubernetesVersion": c.KubernetesVersion == "", "nodes": len(c.Nodes) == 0,
	}
	for _, field := range slices.Sorted(maps.Keys(missing)) {
		if missing[field] {
			return fmt.Errorf("%s: %s: must be set", r.place.File, field)
		}
	}
	if err := adopt.TooMany(len(c.Nodes)); err != nil {
		return fmt.Errorf("%s: nodes: %w", r.place.File, err)
	}
	if c.TalosVersion == "" {
		c.TalosVersion = assumedTalos
		r.source.Note(r.place.At("talosVersion"), "is not set: talhelper assumes "+assumedTalos+", and so does what is written")
	}
	c.TalosVersion = "v" + strings.TrimPrefix(c.TalosVersion, "v")
	r.source.Talos = api.TalosVersion(c.TalosVersion)
	r.source.Kubernetes = api.KubernetesVersion("v" + strings.TrimPrefix(c.KubernetesVersion, "v"))
	return r.checkVersion()
}

// readSecrets reads the bundle of secrets.
func (r *reader) readSecrets() (*adopt.File, error) {
	var found []*adopt.File
	for _, name := range secretNames {
		file, err := r.folder.Read(path.Join(r.dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, file)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("there is no %s: without it talhelper makes new secrets with every run, and there is no cluster to carry over", path.Join(r.dir, secretNames[1]))
	}
	last := found[len(found)-1]
	if strings.TrimSpace(string(last.Text)) == "" {
		return nil, fmt.Errorf("%s: is empty, and should hold the secrets of the cluster", last.Name)
	}
	for _, other := range found[:len(found)-1] {
		r.source.Note(adopt.Origin{File: other.Name}, "is not used: talhelper takes "+last.Name)
	}
	text, err := substituted(last.Text, r.variables)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", last.Name, reason(err))
	}
	bundle, err := adopt.LoadBundle(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", last.Name, err)
	}
	r.source.Bundle, r.secrets = bundle, last.Name
	if strings.Contains(string(last.Text), "$") { // with variables filled in
		last = &adopt.File{Name: last.Name, Raw: last.Raw, Text: text, Encrypted: last.Encrypted}
	}
	return last, nil
}

// addresses are those of a node: one, or several of machines that share a configuration.
func (r *reader) addresses(i int) ([]string, error) {
	one := r.config.Nodes[i]
	origin := r.place.At("nodes", itoa(i), "ipAddress")
	var all []string
	for text := range strings.SplitSeq(one.IPAddress, ",") {
		text = strings.TrimSpace(text)
		if _, err := netip.ParseAddr(text); err != nil {
			return nil, fmt.Errorf("%s: %q is not an IP address, which a MetalHost needs: write the address instead of the name", origin, text)
		}
		all = append(all, text)
	}
	if len(all) > 1 && !one.IgnoreHostname {
		r.source.Leave(origin, fmt.Sprintf("a MetalHost has one address: %s is used, and %s is not", all[0], strings.Join(all[1:], ", ")))
		all = all[:1]
	}
	return all, nil
}
