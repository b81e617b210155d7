// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"minos.dev/minos/adopt/patch"
	"minos.dev/minos/adopt/proof"
	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/declarations"
	"minos.dev/minos/talos/fleet"
	"minos.dev/minos/talos/redact"
)

// Options are what the user decides about a conversion.
type Options struct {
	// Plaintext allows to write readably what was encrypted.
	Plaintext bool
}

// A Result is our folder, and how it compares with the other one.
type Result struct {
	// Cluster is the name of the cluster.
	Cluster string
	// Files are what is to be written, without the secrets.
	Files map[string][]byte
	// Values are secrets that roles refer to, for Secrets of Kubernetes in files that are encrypted.
	Values map[api.SecretKeyReference]string
	// Left is what could not be carried over.
	Left []Remark
	// Notes are what is to be known beside that.
	Notes []Remark
	// Machines is how many machines were compared.
	Machines int
	// Proof is the comparison.
	Proof proof.Result
}

// Convert makes our folder from that of another tool, and compares the configuration of every machine.
func Convert(source *Source, options Options) (*Result, error) {
	if len(source.Machines) == 0 {
		return nil, errors.New("there are no machines")
	}
	p, err := newPlan(source, options)
	if err != nil {
		return nil, err
	}
	files, rendered, err := p.render()
	if err != nil {
		return nil, err
	}
	if p.closeGaps(rendered, options) {
		if files, rendered, err = p.render(); err != nil {
			return nil, err
		}
	}
	if err := p.guard(files, options); err != nil {
		return nil, err
	}
	result := &Result{Cluster: p.facts.clusterName(), Files: files, Values: p.values, Left: p.left, Notes: p.notes, Machines: len(source.Machines)}
	result.Proof, err = proof.Compare(p.theirs(), rendered, p.rules())
	for i := range result.Proof.Differences {
		p.explain(&result.Proof.Differences[i])
	}
	return result, err
}

// guard refuses to write what was encrypted. All that holds such a thing was left out before: this is in case of a mistake.
func (p *plan) guard(files map[string][]byte, options Options) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !options.Plaintext && holds(string(files[name]), p.source.Hidden) {
			return fmt.Errorf("%s would show what was encrypted: give --plaintext if that is wanted", name)
		}
	}
	return nil
}

// explain says of a difference that it is one because something was encrypted, and shows nothing of that.
func (p *plan) explain(difference *proof.Difference) {
	for _, value := range []**string{&difference.Theirs, &difference.Ours} {
		if *value != nil && holds(**value, p.source.Hidden) {
			hidden := redact.Mark
			*value = &hidden
		}
	}
	for _, hidden := range p.dropped {
		if difference.Why == "" && patch.ID(hidden) == difference.Document && speaksOf(hidden, difference.Path) {
			difference.Why = "it was encrypted, and is not written readably"
		}
	}
}

// speaksOf says whether a patch says something of a path as it is printed.
func speaksOf(fields patch.Document, path string) bool {
	var value any = fields
	for _, key := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' || r == '"' }) {
		below, ok := value.(patch.Document)
		if !ok {
			return value != nil
		}
		if value, ok = below[key]; !ok {
			return len(below) > 0 && strings.Contains(path, `["`) // a key with dots in it was cut
		}
	}
	return true
}

// render writes the plan, reads it as anybody would, and makes the configurations of all machines, by their names.
func (p *plan) render() (map[string][]byte, map[string][]byte, error) {
	files, err := p.files()
	if err != nil {
		return nil, nil, err
	}
	rendered, err := renderFiles(files, fleet.Secrets{Bundle: p.source.Bundle, Values: p.values})
	return files, rendered, err
}

// renderFiles makes the configurations of all machines that files of ours declare, by the names of the hosts. What is wrong
// with the files is an error.
func renderFiles(files map[string][]byte, secrets fleet.Secrets) (map[string][]byte, error) {
	objects, err := read(files)
	if err != nil {
		return nil, err
	}
	all, err := fleet.New(objects)
	if err != nil {
		return nil, err
	}
	rendered := map[string][]byte{}
	for _, cluster := range all.Clusters() {
		for _, pool := range all.Pools(cluster) {
			machines, err := all.Render(pool, secrets)
			if err != nil {
				return nil, fmt.Errorf("what was made cannot be rendered: %w", err)
			}
			for _, machine := range machines {
				rendered[machine.Name] = machine.Config
			}
		}
	}
	return rendered, nil
}

// read reads our own files with all checks.
func read(files map[string][]byte) ([]load.Object, error) {
	reader, err := load.NewReader()
	if err != nil {
		return nil, err
	}
	var documents []*load.Document
	var problems []load.Problem
	for _, name := range slices.Sorted(maps.Keys(files)) {
		found, wrong := reader.Read(name, files[name])
		documents, problems = append(documents, found...), append(problems, wrong...)
	}
	if len(problems) == 0 {
		if problems, err = declarations.References(documents); err != nil {
			return nil, err
		}
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("what was made is not valid: %s", problems[0])
	}
	objects := make([]load.Object, 0, len(documents))
	for _, document := range documents {
		objects = append(objects, document.Object)
	}
	return objects, nil
}

// theirs are the other tool's configurations by the names of our hosts.
func (p *plan) theirs() map[string][]byte {
	all := map[string][]byte{}
	for _, pool := range p.pools {
		for _, host := range pool.hosts {
			all[host.name] = host.machine.Config.Text()
		}
	}
	return all
}

// rules are what the comparison needs to know.
func (p *plan) rules() proof.Rules {
	rules := proof.Rules{Talos: p.source.Talos, Schematics: map[string]string{}, Secrets: &redact.Redactor{}}
	rules.Secrets.Learn(p.source.Hidden...)
	for _, pool := range p.pools {
		if same, err := idOf(pool.role.spec); err == nil && pool.role.why == "" && p.source.Schematics[pool.schematic] != nil {
			rules.Schematics[pool.schematic] = same
		}
	}
	return rules
}
