// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"minos.dev/minos/check/rule"
)

// baselineVersion is the form of the file.
const baselineVersion = 1

// A Baseline is findings that were there when somebody began to check: they are known, and do not count.
type Baseline struct {
	// Version is the form of the file.
	Version int `json:"version"`
	// Findings are the findings, sorted.
	Findings []Entry `json:"findings"`
}

// An Entry is one finding of a baseline. It has no line, so that it stays the same when lines move.
type Entry struct {
	Rule        string `json:"rule"`
	Cluster     string `json:"cluster,omitempty"`
	Machine     string `json:"machine,omitempty"`
	File        string `json:"file,omitempty"`
	Path        string `json:"path,omitempty"`
	Commit      string `json:"commit,omitempty"`
	Fingerprint string `json:"fingerprint"`
}

// ReadBaseline reads the text of a baseline.
func ReadBaseline(text []byte) (*Baseline, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	found := &Baseline{}
	if err := decoder.Decode(found); err != nil {
		return nil, fmt.Errorf("it is not a baseline: %w", err)
	}
	if found.Version != baselineVersion {
		return nil, fmt.Errorf("it is a baseline of version %d, and this release of Minos knows version %d: write it again", found.Version, baselineVersion)
	}
	return found, nil
}

// NewBaseline makes a baseline of all findings of a report that are not suppressed.
func NewBaseline(report *Report) *Baseline {
	made := &Baseline{Version: baselineVersion, Findings: []Entry{}}
	for _, finding := range report.Findings {
		if finding.Suppressed == nil {
			made.Findings = append(made.Findings, entry(finding))
		}
	}
	return made
}

// Text is how a baseline is kept: a line a finding, so that a change of it can be read.
func (b *Baseline) Text() ([]byte, error) {
	var text bytes.Buffer
	fmt.Fprintf(&text, "{\n  \"version\": %d,\n  \"findings\": [", b.Version)
	for at, one := range b.Findings {
		line, err := json.Marshal(one)
		if err != nil {
			return nil, err
		}
		if at > 0 {
			text.WriteString(",")
		}
		text.WriteString("\n    ")
		text.Write(line)
	}
	text.WriteString("\n  ]\n}\n")
	return text.Bytes(), nil
}

// entry is a finding as a baseline keeps it.
func entry(finding *Finding) Entry {
	return Entry{
		Rule: finding.Rule, Cluster: finding.Cluster, Machine: finding.Machine, File: finding.File, Path: finding.Path, Commit: finding.Commit,
		Fingerprint: finding.Fingerprint,
	}
}

// lineNumber is one in a text that speaks of another place.
var lineNumber = regexp.MustCompile(`(\.[a-z]+):[0-9]+\b`)

// fingerprint tells a finding from others of the same rule and place: by what was seen, or else by what is said of it, without
// numbers of lines.
func fingerprint(outcome *rule.Outcome) string {
	seen := outcome.Evidence
	if seen == "" {
		seen = lineNumber.ReplaceAllString(outcome.Text, "$1")
	}
	parts := []string{outcome.Rule, outcome.Cluster, outcome.Machine, outcome.File, outcome.Path, outcome.Commit, seen}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:12])
}

// known is a baseline while findings are compared with it: how often each entry is still to come.
type known struct {
	order  []Entry
	counts map[Entry]int
}

// open prepares to compare. No baseline knows nothing.
func (b *Baseline) open() *known {
	k := &known{counts: map[Entry]int{}}
	if b != nil {
		for _, one := range b.Findings {
			k.order = append(k.order, one)
			k.counts[one]++
		}
	}
	return k
}

// takes says whether the baseline has a finding, each entry once.
func (k *known) takes(finding *Finding) bool {
	one := entry(finding)
	if k.counts[one] == 0 {
		return false
	}
	k.counts[one]--
	return true
}

// left are the entries that did not occur, of rules that were asked.
func (k *known) left(rules []*rule.Rule) []Entry {
	asked := map[string]bool{}
	for _, one := range rules {
		asked[one.ID] = true
	}
	var found []Entry
	for _, one := range k.order {
		if asked[one.Rule] && k.counts[one] > 0 {
			k.counts[one]--
			found = append(found, one)
		}
	}
	return found
}
