// SPDX-License-Identifier: Apache-2.0

package rule

import (
	"fmt"

	"minos.dev/minos/check/facts"
)

// Verdict is what a rule says of one subject.
type Verdict string

// The verdicts. A rule that says nothing does not apply.
const (
	Passed  Verdict = "passed"
	Failed  Verdict = "failed"
	Unknown Verdict = "unknown"
)

// An Outcome is what one rule says of one subject.
type Outcome struct {
	// Rule is the rule's ID.
	Rule string `json:"rule"`
	// Verdict is what it says.
	Verdict Verdict `json:"verdict"`
	// Severity is how bad it is, where it is; in the environment of the subject.
	Severity Severity `json:"severity"`
	// Place is the subject: a file, a machine, a cluster.
	facts.Place
	// Text says in one line what is wrong, or why it cannot be known.
	Text string `json:"text,omitempty"`
	// Evidence is what was seen, with secrets left out.
	Evidence string `json:"evidence,omitempty"`
	// Remedy is what to do about it.
	Remedy string `json:"remedy,omitempty"`
	// Patch mends it where that is safe to do by machine.
	Patch *Patch `json:"patch,omitempty"`
}

// A Patch replaces lines of a file. Lines count from 1.
type Patch struct {
	// File is the file.
	File string `json:"file"`
	// From and To are the first and the last line that are replaced; To is From-1 to insert before From.
	From int `json:"from"`
	To   int `json:"to"`
	// Lines are what stands there afterwards, without line ends.
	Lines []string `json:"lines"`
}

// A Sheet takes what a rule says.
type Sheet struct {
	rule     *Rule
	excused  func(cluster string) bool
	outcomes []*Outcome
}

// Pass says that the rule holds for a subject.
func (s *Sheet) Pass(place facts.Place) { s.add(Outcome{Verdict: Passed, Place: place}) }

// Fail says that the rule does not hold for a subject, and why in one line. What it returns can be completed: with a severity of
// its own, with evidence, with a patch.
func (s *Sheet) Fail(place facts.Place, format string, values ...any) *Outcome {
	if s.excused != nil && s.excused(place.Cluster) {
		s.Pass(place)
		return &Outcome{}
	}
	return s.add(Outcome{
		Verdict: Failed, Severity: s.rule.Severity.in(place.Environment, s.rule.Production), Place: place, Text: fmt.Sprintf(format, values...), Remedy: s.rule.Remedy,
	})
}

// FailAs is [Sheet.Fail] for a case of another severity than the rule's own.
func (s *Sheet) FailAs(severity Severity, place facts.Place, format string, values ...any) *Outcome {
	outcome := s.Fail(place, format, values...)
	outcome.Severity = severity.in(place.Environment, s.rule.Production)
	return outcome
}

// Unknown says that it cannot be decided for a subject, and why in one line.
func (s *Sheet) Unknown(place facts.Place, format string, values ...any) {
	s.add(Outcome{Verdict: Unknown, Place: place, Text: fmt.Sprintf(format, values...)})
}

// add keeps an outcome.
func (s *Sheet) add(outcome Outcome) *Outcome {
	outcome.Rule = s.rule.ID
	s.outcomes = append(s.outcomes, &outcome)
	return &outcome
}
