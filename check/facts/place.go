// SPDX-License-Identifier: Apache-2.0

package facts

import (
	api "minos.dev/minos/api/v1alpha1"
)

// A Place is what something is said about, as exactly as it is known.
type Place struct {
	// Cluster is the cluster's name, with its namespace before a slash where it has one.
	Cluster string `json:"cluster,omitempty"`
	// Machine is the machine's name, or its pool's where machines have no names yet.
	Machine string `json:"machine,omitempty"`
	// File is the path of the file, below the folder.
	File string `json:"file,omitempty"`
	// Line is the line in the file, counted from 1; 0 means the whole file.
	Line int `json:"line,omitempty"`
	// Path is the field, for example spec.machine or machine.install.image.
	Path string `json:"path,omitempty"`
	// Commit is the commit of a file that is in the history only.
	Commit string `json:"commit,omitempty"`
	// Environment is what the cluster is for.
	Environment api.Environment `json:"environment,omitempty"`
}
