// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"bytes"
	"path"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
)

// A File is one file of a folder.
type File struct {
	// Path is its path below the folder, with slashes.
	Path string
	// Text is its content; nil if it is too large or not text, and then only its name is known.
	Text []byte
	// Tracked says that Git has it.
	Tracked bool
	// Ignored says that Git's ignore rules name it.
	Ignored bool
	// Documents are its parts, if it is YAML or JSON and could be read.
	Documents []*Document
}

// Base is the last part of its path.
func (f *File) Base() string { return path.Base(f.Path) }

// Extension is the end of its name, in small letters: ".yaml".
func (f *File) Extension() string { return strings.ToLower(path.Ext(f.Path)) }

// Lines are its lines.
func (f *File) Lines() []string { return strings.Split(string(f.Text), "\n") }

// At is a line of the file as a place. A file is not of one cluster: what is wrong with it is judged as in production, unless all
// clusters of the folder are something else.
func (f *File) At(line int) Place { return Place{File: f.Path, Line: line} }

// Find returns the numbers of the lines that hold a text.
func (f *File) Find(text string) []int {
	var found []int
	for at, line := range bytes.Split(f.Text, []byte("\n")) {
		if bytes.Contains(line, []byte(text)) {
			found = append(found, at+1)
		}
	}
	return found
}

// A Leak is a secret that stands readable where it should not.
type Leak struct {
	// Place is where.
	Place
	// Kind is what it is, in a few words: "the private key of the Kubernetes authority".
	Kind string
	// Evidence is how it looks, without the secret.
	Evidence string
	// Field is the key under which it stands, where there is one.
	Field string
}

// environment is what a folder as a whole is for: production, unless every cluster in it is for something else.
func (f *Facts) environment() api.Environment {
	found := api.EnvironmentProduction
	for at, cluster := range f.Clusters {
		if cluster.Environment == api.EnvironmentProduction {
			return cluster.Environment
		}
		if at == 0 {
			found = cluster.Environment
		}
	}
	return found
}
