// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/siderolabs/image-factory/pkg/schematic"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"go.yaml.in/yaml/v3"

	"minos.dev/minos/adopt/patch"
	api "minos.dev/minos/api/v1alpha1"
)

// A Source is the folder of another tool, as it was read.
type Source struct {
	// Tool is its name, for example talhelper.
	Tool string
	// Kubernetes and Talos are the versions of the cluster, with "v".
	Kubernetes api.KubernetesVersion
	Talos      api.TalosVersion
	// Machines are in the order of the folder.
	Machines []*Machine
	// Bundle is the cluster's secrets.
	Bundle *secrets.Bundle
	// Schematics are those that are known, by the ID that the other tool computes.
	Schematics map[string]*schematic.Schematic
	// Hidden are values that were encrypted in the folder and must not be written readably.
	Hidden []string
	// Left is what was read and cannot be carried over.
	Left []Remark
	// Notes are what the user should know and nothing is lost by.
	Notes []Remark
}

// Given is what the user says to a reader, beside the folder.
type Given struct {
	// Config is the path of the tool's main file within the folder; empty for the usual names.
	Config string
	// Env are variables for templates and substitution. Those of the folder's own files win. They are taken for secrets.
	Env map[string]string
	// Schematics are schematics that are known, by their IDs.
	Schematics map[string]*schematic.Schematic
}

// A Machine is one machine of a source.
type Machine struct {
	// Name is what the other tool calls it.
	Name string
	// Address is where its Talos API is reached.
	Address string
	// ControlPlane says which of the two types it is.
	ControlPlane bool
	// Architecture is that of its processor.
	Architecture api.Architecture
	// Steps lead from what Talos generates to its configuration.
	Steps []Step
	// Config is the configuration that the other tool makes.
	Config *patch.Config
	// Origin is where it is declared.
	Origin Origin
}

// A Scope is of how many machines something was said.
type Scope int

// The scopes, from one machine to all.
const (
	ScopeMachine Scope = iota
	ScopeGroup
	ScopeCluster
)

// A Step is one change of a machine's configuration: a field of the other tool, or a patch.
type Step struct {
	Origin Origin
	// Scope is of how many machines the folder says it.
	Scope Scope
	// Remark is what its author says of it, as lines of a comment.
	Remark string
	// Rendered says that it was a template, of which only the result is carried over.
	Rendered bool
	// Patches are strategic ones, applied in order.
	Patches []Patch
	// Hidden says that it holds something that was encrypted.
	Hidden bool

	id     string // what it says, once that was computed
	sealed bool   // the whole of it was encrypted
}

// A Patch is a strategic patch as data and, where somebody wrote it, as the tree with its order and comments.
type Patch struct {
	Fields patch.Document
	Node   *yaml.Node
}

// An Origin is a place in the other tool's folder.
type Origin struct {
	File  string `json:"file"`
	Line  int    `json:"line,omitempty"`
	Field string `json:"field,omitempty"`
}

// String is the place as a line that editors can jump to.
func (o Origin) String() string {
	text := o.File
	if o.Line > 0 {
		text = fmt.Sprintf("%s:%d", text, o.Line)
	}
	if o.Field != "" {
		text += ": " + o.Field
	}
	return text
}

var index = regexp.MustCompile(`\[\d+\]`)

// comment says where a step comes from, without line and index: it is said of several machines.
func (s Step) comment() string {
	text := "from " + s.Origin.File
	if s.Origin == closing {
		text = closing.File
	}
	if s.Origin.Field != "" {
		text += ": " + index.ReplaceAllString(s.Origin.Field, "[]")
	}
	if s.Rendered {
		text += " (a template; this is what it gave)"
	}
	return text
}

// A Remark is something to say of a place: that it is not carried over, and why, or what else is to be known of it.
type Remark struct {
	Origin
	Text string `json:"text"`
}

// String is one line.
func (r Remark) String() string { return r.Origin.String() + ": " + r.Text }

// Leave notes what is not carried over, once.
func (s *Source) Leave(origin Origin, text string) {
	if remark := (Remark{origin, text}); !slices.Contains(s.Left, remark) {
		s.Left = append(s.Left, remark)
	}
}

// Note notes what is to be known, once.
func (s *Source) Note(origin Origin, text string) {
	if remark := (Remark{origin, text}); !slices.Contains(s.Notes, remark) {
		s.Notes = append(s.Notes, remark)
	}
}

// documents are the patches of a step as data.
func (s Step) documents() []patch.Document {
	all := make([]patch.Document, 0, len(s.Patches))
	for _, one := range s.Patches {
		all = append(all, one.Fields)
	}
	return all
}
