// SPDX-License-Identifier: Apache-2.0

package rule

import (
	"minos.dev/minos/check/facts"
)

// A Rule is one judgement about facts.
type Rule struct {
	// ID is stable: never renumbered and never used again, for example PLT-001.
	ID string
	// Title is what holds when the rule passes, as a sentence without a full stop.
	Title string
	// Question is what it answers, for somebody who has never heard of the matter; with what happens if it does not hold.
	Question string
	// Severity is how bad it is when it does not hold.
	Severity Severity
	// Production says that the severity holds in production, and that it is one level milder everywhere else.
	Production bool
	// Availability says that it is about surviving the loss of a machine: a cluster that is declared to be small and has a backup
	// is excused.
	Availability bool
	// Inputs are the kinds of facts that it reads. If none of them is at hand the answer is unknown.
	Inputs []facts.Input
	// Reads are the kinds of what a running cluster says that it judges by: where one of them could not be read, it says so.
	Reads []string
	// Remedy is the shortest useful advice.
	Remedy string
	// Sources are why it exists: codes of what it serves, such as D1, A3 or ADR, and public issues such as siderolabs/talos#4318.
	Sources []string
	// Examples is the text of its examples, in the form that [ParseExamples] reads.
	Examples string
	// Judge says on the sheet what it finds. Saying nothing means that the rule is about nothing that is there.
	Judge func(*facts.Facts, *Sheet)
}

// Group is the first part of its ID.
func (r *Rule) Group() string { return r.ID[:3] }

// Apply has a rule judge facts, and returns what it said.
func (r *Rule) Apply(all *facts.Facts) []*Outcome {
	sheet := &Sheet{rule: r}
	if missing := all.Without(r.Inputs); len(missing) == len(r.Inputs) {
		sheet.Unknown(facts.Place{}, "there is nothing to judge by: %s", lacking(missing))
		return sheet.outcomes
	}
	if r.Availability {
		sheet.excused = all.Excused
	}
	r.Judge(all, sheet)
	if all.Live != nil {
		for _, missing := range all.Live.Missing(r.Reads) {
			place := all.Whole()
			place.Machine = missing.Machine
			sheet.Unknown(place, "%s", missing)
		}
	}
	return sheet.outcomes
}

// lacking names inputs.
func lacking(missing []facts.Input) string {
	text := ""
	for at, input := range missing {
		if at > 0 {
			text += ", and "
		}
		text += "no " + input.String()
	}
	return text
}
