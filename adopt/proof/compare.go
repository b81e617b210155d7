// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"minos.dev/minos/adopt/patch"
	"minos.dev/minos/talos/compare"
)

// A Difference is one value that differs.
type Difference struct {
	// Machine is the name of the machine.
	Machine string `json:"machine"`
	// Document is the kind of the document, with its name if it has one; empty if it is about the whole machine.
	Document string `json:"document,omitempty"`
	// Path is where in the document.
	Path string `json:"path,omitempty"`
	// Theirs and Ours are the two values, without secrets; nil where there is none.
	Theirs *string `json:"theirs,omitempty"`
	Ours   *string `json:"ours,omitempty"`
	// Why is the reason, if there is a known one.
	Why string `json:"why,omitempty"`
}

// A Likeness is something that is written differently and means the same.
type Likeness struct {
	// Machine is the name of the machine.
	Machine string `json:"machine"`
	// Document is the kind of the document, with its name if it has one.
	Document string `json:"document"`
	// Path is where in the document.
	Path string `json:"path,omitempty"`
	// Why is the reason.
	Why string `json:"why"`
}

// A Result is what a comparison found.
type Result struct {
	Differences []Difference `json:"differences"`
	Likenesses  []Likeness   `json:"likenesses,omitempty"`
}

// Compare compares configurations by the names of their machines.
func Compare(theirs, ours map[string][]byte, rules Rules) (Result, error) {
	result := Result{Differences: []Difference{}}
	names := maps.Clone(theirs)
	maps.Copy(names, ours)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		left, hasLeft := theirs[name]
		right, hasRight := ours[name]
		switch {
		case !hasLeft:
			result.Differences = append(result.Differences, Difference{Machine: name, Why: "they have no such machine"})
			continue
		case !hasRight:
			result.Differences = append(result.Differences, Difference{Machine: name, Why: "we have no such machine"})
			continue
		}
		if err := result.machine(name, left, right, rules); err != nil {
			return Result{}, fmt.Errorf("machine %s: %w", name, err)
		}
	}
	return result, nil
}

// machine compares one machine.
func (r *Result) machine(name string, theirs, ours []byte, rules Rules) error {
	left, err := patch.Decode(theirs)
	if err != nil {
		return err
	}
	right, err := patch.Decode(ours)
	if err != nil {
		return err
	}
	raw, err := changes(left, right, rules)
	if err != nil || len(raw) == 0 {
		return err
	}
	left, notes := normal(left, rules)
	right, more := normal(right, rules)
	left, right = r.whole(name, left, right)
	real, err := changes(left, right, rules)
	if err != nil {
		return err
	}
	for _, change := range real {
		r.Differences = append(r.Differences, Difference{
			Machine: name, Document: change.Document, Path: change.Path, Theirs: change.Old, Ours: change.New,
			Why: why(change),
		})
	}
	r.Likenesses = append(r.Likenesses, likenesses(name, append(notes, more...), raw, real)...)
	return nil
}

// likenesses are the notes that explain why something is no difference. What is said of a whole document is enough.
func likenesses(machine string, notes []Likeness, raw, real []compare.Change) []Likeness {
	var found []Likeness
	for _, note := range notes {
		if slices.ContainsFunc(raw, note.about) && !slices.ContainsFunc(real, note.about) {
			note.Machine = machine
			found = append(found, note)
		}
	}
	slices.SortFunc(found, func(a, b Likeness) int {
		return cmp.Or(cmp.Compare(a.Document, b.Document), cmp.Compare(a.Path, b.Path))
	})
	whole := slices.Clone(found)
	return slices.DeleteFunc(slices.Compact(found), func(part Likeness) bool {
		return part.Path != "" && slices.ContainsFunc(whole, func(l Likeness) bool { return l.Path == "" && l.Document == part.Document })
	})
}

// there stands for a whole document.
var there = "the document"

// whole takes out the documents that only one side has: each is one difference, and not as many as it has values.
func (r *Result) whole(machine string, theirs, ours []patch.Document) (left, right []patch.Document) {
	has := func(documents []patch.Document, id string) bool {
		return slices.ContainsFunc(documents, func(d patch.Document) bool { return patch.ID(d) == id })
	}
	for _, document := range theirs {
		if id := patch.ID(document); has(ours, id) {
			left = append(left, document)
		} else {
			r.Differences = append(r.Differences, Difference{Machine: machine, Document: id, Theirs: &there})
		}
	}
	for _, document := range ours {
		if id := patch.ID(document); has(theirs, id) {
			right = append(right, document)
		} else {
			r.Differences = append(r.Differences, Difference{Machine: machine, Document: id, Ours: &there})
		}
	}
	return left, right
}

// changes are the differences as they stand.
func changes(theirs, ours []patch.Document, rules Rules) ([]compare.Change, error) {
	left, err := patch.Encode(theirs)
	if err != nil {
		return nil, err
	}
	right, err := patch.Encode(ours)
	if err != nil {
		return nil, err
	}
	return compare.Configs(left, right, rules.Secrets)
}
