// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bytes"
	_ "embed" // for the workflow
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// frame is the workflow without what a matrix decides.
//
//go:embed workflow.yaml
var frame string

// A job is a build as the workflow has it, for people to read: with the extensions as the words that a shell takes, and
// with the schematic itself.
type job struct {
	Name         string `yaml:"name"`
	Role         string `yaml:"role"`
	Purpose      string `yaml:"purpose"`
	Architecture string `yaml:"arch"`
	Extensions   string `yaml:"extensions"`
	Suffix       string `yaml:"suffix"`
	File         string `yaml:"file"`
	URL          string `yaml:"url"`
	Schematic    string `yaml:"schematic"`
	Document     string `yaml:"document"`
}

// expression begins what GitHub evaluates, wherever it stands.
const expression = "${{"

// Workflow returns a workflow of GitHub Actions that makes and checks every image of the matrix.
func (m *Matrix) Workflow() (string, error) {
	jobs := []job{}
	for _, build := range m.Include {
		if strings.Contains(build.document, expression) {
			return "", fmt.Errorf("role %q: a kernel argument holds %q, which GitHub would evaluate: leave it out", build.Role, expression)
		}
		jobs = append(jobs, job{
			Name: build.Name, Role: build.Role, Purpose: strings.ReplaceAll(build.Purpose, expression, "$ {{"),
			Architecture: string(build.Architecture), Extensions: strings.Join(build.Extensions, " "),
			Suffix: build.Suffix, File: build.File, URL: build.URL, Schematic: build.Schematic, Document: build.document,
		})
	}
	var list bytes.Buffer
	encoder := yaml.NewEncoder(&list)
	encoder.SetIndent(2)
	if err := encoder.Encode(jobs); err != nil {
		return "", err
	}
	return strings.NewReplacer(
		"@FACTORY@", m.factory,
		"@VERSION@", string(m.version),
		"@INCLUDE@", indent(list.String(), "          "),
	).Replace(frame), encoder.Close()
}

// indent moves a text to the right.
func indent(text, by string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSuffix(text, "\n")) {
		if strings.TrimSpace(line) != "" {
			b.WriteString(by)
		}
		b.WriteString(line)
	}
	return b.String()
}
