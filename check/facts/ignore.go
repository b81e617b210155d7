// SPDX-License-Identifier: Apache-2.0

package facts

// An Ignore is an entry of the settings that bears with findings which no comment in a file can reach: those about the folder as a
// whole, those in files that take no comments, and those in the history.
type Ignore struct {
	// Rule is the rule's ID; several stand with commas between them.
	Rule string `json:"rule"`
	// File is the file, a pattern with wildcards, or a folder with a slash at its end; empty for findings about the folder as a
	// whole.
	File string `json:"file,omitempty"`
	// Until is the last day on which it holds, for example 2027-01-31.
	Until string `json:"until"`
	// Reason says why the findings are borne with.
	Reason string `json:"reason"`
}
