// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/yaml"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
)

// A Source is what was gathered.
type Source struct {
	// Files are the files of the folder.
	Files []*File
	// Live are what a running cluster was just asked, in the form in which it is saved. If there are any, those that the folder keeps
	// from another day are passed over.
	Live []*File
	// Before are the files of the state before, where changes are to be judged.
	Before []*File
	// Environment is what clusters are for that do not say it; it wins over the settings of the folder.
	Environment api.Environment
	// Git says that it is in a Git repository.
	Git bool
	// Leaks and PastLeaks are the secrets that were found in files now, and in the history only.
	Leaks, PastLeaks []Leak
	// HistoryUnknown says why the history was not looked at; empty if it was.
	HistoryUnknown string
	// Remarks say what could not be gathered, and why.
	Remarks []string
	// Now is the time.
	Now time.Time
}

// names are those of our kinds.
var names = []string{"TalosCluster", "NodePool", "NodeRole", "Location", "ClusterLocation", "TalosMachine"}

// A reader turns files into facts.
type reader struct {
	facts   *Facts
	kinds   *load.Reader
	configs []*File // machine configurations that were found as files
	now     bool    // a running cluster was asked, so that what was saved of one is old
}

// kinds reads our kinds. What it needs to know of them takes long to prepare and never changes.
var kinds = sync.OnceValues(load.NewReader)

// Read makes facts of what was gathered.
func Read(source Source) (*Facts, error) {
	kinds, err := kinds()
	if err != nil {
		return nil, err
	}
	// What is said first must not depend on the order in which files were found.
	slices.SortStableFunc(source.Files, func(a, b *File) int { return cmp.Compare(a.Path, b.Path) })
	r := &reader{kinds: kinds, facts: &Facts{
		Now: source.Now, Git: source.Git, Files: source.Files, Leaks: source.Leaks, PastLeaks: source.PastLeaks, HistoryUnknown: source.HistoryUnknown,
	}}
	for _, file := range source.Files {
		r.settings(file)
	}
	r.facts.Settings.Environment = cmp.Or(source.Environment, r.facts.Settings.Environment)
	for _, file := range source.Before {
		documents, _ := kinds.Read(file.Path, file.Text) // what is wrong with what is gone is nobody's business any more
		r.facts.Before = append(r.facts.Before, documents...)
	}
	for _, file := range source.Live {
		r.live(file)
	}
	r.now = len(source.Live) > 0
	for _, file := range source.Files {
		r.file(file)
	}
	if err := r.declared(); err != nil {
		return nil, err
	}
	r.found()
	r.connect()
	return r.facts, nil
}

// settings reads the folder's own file of settings. One that cannot be read is a problem and not an empty one.
func (r *reader) settings(file *File) {
	if file.Path != SettingsFile {
		return
	}
	if err := yaml.UnmarshalStrict(file.Text, &r.facts.Settings); err != nil {
		text, _, _ := strings.Cut(err.Error(), "\n")
		r.facts.Problems = append(r.facts.Problems, load.Problem{File: file.Path, Line: 1, Text: "these settings cannot be read: " + text})
	}
}

// structured are the ends of names of files that have documents, and accesses the names of files that have them without an end.
var (
	structured = []string{".yaml", ".yml", ".json"}
	accesses   = []string{"talosconfig", "kubeconfig"}
)

// file says what a file is by its content, and by its name where that decides.
func (r *reader) file(file *File) {
	if file.Extension() == ".json" && r.saved(file) || !slices.Contains(structured, file.Extension()) && !slices.Contains(accesses, file.Base()) {
		return
	}
	var err error
	if file.Documents, err = parse(file); err != nil {
		r.unread(file, err)
		return
	}
	if isMachineConfig(file.Documents) {
		r.configs = append(r.configs, file)
		return
	}
	ours := false
	for _, document := range file.Documents {
		ours = ours || slices.Contains(names, document.Kind()) // whose group may have a slip of the pen in it
		if strings.HasPrefix(document.APIVersion(), "minos.dev/") {
			ours = true
			continue
		}
		r.document(document)
	}
	if ours {
		documents, problems := r.kinds.Read(file.Path, file.Text)
		r.facts.Documents = append(r.facts.Documents, documents...)
		r.facts.Problems = append(r.facts.Problems, problems...)
	}
}

// unread keeps that a file could not be read, so that nobody takes what is in it for judged. A template is not meant to be.
func (r *reader) unread(file *File, err error) {
	if bytes.Contains(file.Text, []byte("{{")) {
		return
	}
	if bytes.Contains(file.Text, []byte(api.Group+"/")) { // one of ours, with a slip in it
		_, problems := r.kinds.Read(file.Path, file.Text)
		r.facts.Problems = append(r.facts.Problems, problems...)
		return
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	r.facts.Unread = append(r.facts.Unread, load.Problem{File: file.Path, Line: 1, Text: "this is not valid YAML, and nothing in it was judged: " + text})
}

// document says what a document of others is.
func (r *reader) document(document *Document) {
	switch {
	case isWorkflow(document.File.Path):
		r.facts.Workflows = append(r.facts.Workflows, workflow(document))
	case isAccess(document):
		r.facts.Accesses = append(r.facts.Accesses, document)
	case isBundle(document):
		r.facts.Bundles = append(r.facts.Bundles, document)
	case isProfile(document):
		r.profile(document)
	case isSchematic(document):
		r.schematic(document)
	case document.Kind() != "" && document.APIVersion() != "":
		r.facts.Manifests = append(r.facts.Manifests, document)
		if values := valuesOf(document); values != nil {
			r.facts.Values = append(r.facts.Values, values)
		}
	default:
		if values := fileOfValues(document); values != nil {
			r.facts.Values = append(r.facts.Values, values)
		}
	}
}

// isMachineConfig says whether documents are the configuration of a machine: one is the old document with its version, or all are
// Talos's new ones.
func isMachineConfig(documents []*Document) bool {
	talos := 0
	for _, document := range documents {
		if document.Kind() == "" && document.String("version") == "v1alpha1" && document.Map("machine") != nil {
			return true
		}
		if document.APIVersion() == "v1alpha1" && document.Kind() != "" {
			talos++
		}
	}
	return talos > 0 && talos == len(documents)
}

// isAccess says whether a document is a talosconfig or a kubeconfig.
func isAccess(document *Document) bool {
	return document.Kind() == "" && document.Map("contexts") != nil || document.Kind() == "Config" && document.List("clusters") != nil
}

// isBundle says whether a document is a secrets bundle as talosctl and talhelper keep it.
func isBundle(document *Document) bool {
	return document.Kind() == "" && document.Map("certs") != nil && (document.Map("secrets") != nil || document.Map("trustdinfo") != nil)
}
