// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"time"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/fleet"
)

// Facts are everything that rules judge by.
type Facts struct {
	// Now is when the facts were gathered.
	Now time.Time
	// Git says that the folder is in a Git repository, so that what is tracked and ignored is known.
	Git bool

	// Documents are the objects of our kinds, and Problems what is wrong with those that are none.
	Documents []*load.Document
	Problems  []load.Problem
	// Before are the objects of the state before, where changes are to be judged; nil if they are not.
	Before []*load.Document
	// Unread are files that should be YAML and could not be read.
	Unread []load.Problem
	// Fleet is what the objects declare together.
	Fleet *fleet.Fleet

	// Clusters are those that are declared, and those that machine configurations without a declaration speak of.
	Clusters []*Cluster
	// Pools are the declared pools of all clusters.
	Pools []*Pool
	// Machines are those of all clusters: of declared pools, and of configurations that were found as files.
	Machines []*Machine

	// Schematics and Profiles are what images are made from: of the roles of pools, and found as files.
	Schematics []*SchematicFact
	Profiles   []*ProfileFact

	// Files are the files of the folder.
	Files []*File
	// Leaks are secrets that stand readable in files now, and PastLeaks those that stand in the history of the repository only.
	Leaks, PastLeaks []Leak
	// HistoryUnknown says why the history was not looked at; empty if it was.
	HistoryUnknown string
	// Manifests are Kubernetes objects that are not of our kinds, Values the Helm values, and Workflows what CI systems do.
	Manifests []*Document
	Values    []*Values
	Workflows []*Workflow
	// Accesses are talosconfigs and kubeconfigs in files, Bundles the secrets bundles of clusters.
	Accesses, Bundles []*Document
	// Live is what running clusters said of themselves; nil if nobody asked.
	Live *LiveFacts
	// Settings are those of the folder's own file of settings.
	Settings Settings
}

// Settings are what a folder says to the checks, in a file of its own at its root: for folders that have no declarations of ours, or
// that do not want to change them.
type Settings struct {
	// Environment is what the clusters are for, where they do not say it themselves.
	Environment api.Environment `json:"environment,omitempty"`
	// TalosVersion and KubernetesVersion are those of machines whose configuration does not say.
	TalosVersion      api.TalosVersion      `json:"talosVersion,omitempty"`
	KubernetesVersion api.KubernetesVersion `json:"kubernetesVersion,omitempty"`
	// Notes are what people declare beside what our kinds have fields for.
	Notes map[Note]string `json:"notes,omitempty"`
	// Ignore are findings that are borne with for a while, and that no comment in a file can reach.
	Ignore []Ignore `json:"ignore,omitempty"`
}

// SettingsFile is the name of the file of settings.
const SettingsFile = ".minos-check.yaml"

// Excused says whether a cluster need not survive the loss of a machine: because it is small by declaration, and has a backup.
func (f *Facts) Excused(cluster string) bool {
	for _, one := range f.Clusters {
		if one.Title() != cluster {
			continue
		}
		small := one.Environment == api.EnvironmentEdge || one.Environment == api.EnvironmentDevelopment || one.Environment == api.EnvironmentHomelab
		return small && one.HasBackup()
	}
	return false
}

// Whole is the folder as a place, for what is not about one file.
func (f *Facts) Whole() Place { return Place{Environment: f.environment()} }

// InTree is a line of a file as a place, in the environment of the folder.
func (f *Facts) InTree(file *File, line int) Place {
	place := file.At(line)
	place.Environment = f.environment()
	return place
}

// InDocument is a path of a document as a place, in the environment of the folder.
func (f *Facts) InDocument(document *Document, path string) Place {
	place := document.At(path)
	place.Environment = f.environment()
	return place
}
