// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// Options say how facts are judged.
type Options struct {
	// Rules are those that are asked; nil means all.
	Rules []*rule.Rule
	// Baseline are findings that are known and do not count; nil means none.
	Baseline *Baseline
}

// Judge has rules judge facts. It is the same for the same facts, and no rule can take another down.
func Judge(all *facts.Facts, options Options) *Report {
	rules := options.Rules
	if rules == nil {
		rules = Rules()
	}
	borne := newBorne(all)
	report := &Report{Findings: []*Finding{}}
	var outcomes []*rule.Outcome
	for _, one := range rules {
		said := apply(one, all)
		borne.heard(one, said)
		outcomes = append(outcomes, said...)
	}
	outcomes = borne.complete(rules, outcomes)
	slices.SortStableFunc(outcomes, compareOutcomes)
	tallies := map[string]*Tally{}
	for _, one := range rules {
		tallies[one.ID] = &Tally{Rule: one.ID}
	}
	baseline := options.Baseline.open()
	for _, outcome := range outcomes {
		tally := tallies[outcome.Rule]
		switch outcome.Verdict {
		case rule.Passed:
			tally.Passed++
		case rule.Unknown:
			tally.Unknown++
			report.Unknown = append(report.Unknown, outcome)
		case rule.Failed:
			finding := &Finding{Outcome: outcome, Fingerprint: fingerprint(outcome), Suppressed: borne.by(outcome)}
			finding.Known = finding.Suppressed == nil && baseline.takes(finding)
			tally.count(finding)
			report.Findings = append(report.Findings, finding)
		}
	}
	report.Gone = baseline.left(rules)
	for _, one := range rules {
		report.Rules = append(report.Rules, *tallies[one.ID])
	}
	report.summarise(all, rules)
	return report
}

// count counts a finding.
func (t *Tally) count(finding *Finding) {
	switch {
	case finding.Suppressed != nil:
		t.Suppressed++
	case finding.Known:
		t.Baseline++
	default:
		t.Failed++
	}
}

// apply has one rule judge. One that breaks down is a mistake of ours: it is said, and the others go on.
func apply(one *rule.Rule, all *facts.Facts) (said []*rule.Outcome) {
	defer func() {
		if broken := recover(); broken != nil {
			text := fmt.Sprintf("the rule itself broke down: %s. This is a mistake in Minos: please report it", cause(broken))
			said = []*rule.Outcome{{Rule: one.ID, Verdict: rule.Unknown, Place: all.Whole(), Text: text}}
		}
	}()
	return one.Apply(all)
}

// cause is why a rule broke down, as far as that can be shown: what a library says may hold a part of what it read.
func cause(broken any) string {
	if err, ok := broken.(error); ok {
		if known, ok := errors.AsType[runtime.Error](err); ok {
			return known.Error()
		}
	}
	return fmt.Sprintf("%T", broken)
}
