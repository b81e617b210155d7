// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/remarks"
	"minos.dev/minos/check/rule"
)

// borne is what people bear with, and whether any of it is needed.
type borne struct {
	all  []*remarks.Suppression
	near map[spot][]*remarks.Suppression   // those that are about their own file
	wide map[string][]*remarks.Suppression // by rule, those that reach further
	used map[use]bool
	open map[string]bool // rules that could not be decided somewhere
}

// A spot is one rule in one file.
type spot struct{ rule, file string }

// A use is one rule of one suppression.
type use struct {
	suppression *remarks.Suppression
	rule        string
}

// newBorne finds all suppressions.
func newBorne(all *facts.Facts) *borne {
	b := &borne{
		all: remarks.Suppressions(all), near: map[spot][]*remarks.Suppression{}, wide: map[string][]*remarks.Suppression{}, used: map[use]bool{}, open: map[string]bool{},
	}
	for _, one := range b.all {
		for _, id := range one.Rules {
			if one.Wide() {
				b.wide[id] = append(b.wide[id], one)
				continue
			}
			here := spot{id, one.Place.File}
			b.near[here] = append(b.near[here], one)
		}
	}
	return b
}

// covering are the suppressions that bear with a finding.
func (b *borne) covering(outcome *rule.Outcome) []*remarks.Suppression {
	var found []*remarks.Suppression
	for _, some := range [][]*remarks.Suppression{b.near[spot{outcome.Rule, outcome.File}], b.wide[outcome.Rule]} {
		for _, one := range some {
			if one.Covers(outcome.Rule, outcome.Place) {
				found = append(found, one)
			}
		}
	}
	return found
}

// heard takes what a rule said, to know which suppressions have something to suppress.
func (b *borne) heard(one *rule.Rule, said []*rule.Outcome) {
	for _, outcome := range said {
		switch outcome.Verdict {
		case rule.Unknown:
			b.open[one.ID] = true
		case rule.Failed:
			for _, suppression := range b.covering(outcome) {
				b.used[use{suppression, one.ID}] = true
			}
		}
	}
}

// by is what bears with a finding; nil if nothing does. That a suppression is wrong cannot be suppressed.
func (b *borne) by(outcome *rule.Outcome) *remarks.Suppression {
	if found := b.covering(outcome); len(found) > 0 && outcome.Rule != remarks.Suppressed {
		return found[0]
	}
	return nil
}

// complete adds what can be said of suppressions once all rules were heard: that they name a rule that does not exist, or have
// nothing to suppress. Of rules that were not asked, or could not be decided, nothing is said.
func (b *borne) complete(rules []*rule.Rule, outcomes []*rule.Outcome) []*rule.Outcome {
	at := slices.IndexFunc(rules, func(one *rule.Rule) bool { return one.ID == remarks.Suppressed })
	if at < 0 {
		return outcomes
	}
	asked := map[string]bool{}
	for _, one := range rules {
		asked[one.ID] = true
	}
	for _, one := range b.all {
		for _, id := range one.Rules {
			text, severity := b.useless(one, id, asked)
			if text == "" {
				continue
			}
			outcome := &rule.Outcome{Rule: remarks.Suppressed, Verdict: rule.Failed, Severity: severity, Place: one.Place, Text: text, Remedy: "remove it"}
			if len(one.Rules) == 1 && severity == rule.Info {
				outcome.Patch = one.Remove()
			}
			outcomes = append(outcomes, outcome)
		}
	}
	return outcomes
}

// useless says why a suppression does nothing for a rule; nothing if it does something, or if that is not known.
func (b *borne) useless(one *remarks.Suppression, id string, asked map[string]bool) (string, rule.Severity) {
	switch _, err := Find(id); {
	case one.Problem != "": // which is said by the rule itself
		return "", rule.Info
	case err != nil:
		return "this suppression does nothing: " + err.Error(), rule.Error
	case id == remarks.Suppressed:
		return fmt.Sprintf("this suppression does nothing: findings of %s cannot be suppressed", id), rule.Error
	case asked[id] && !b.open[id] && !b.used[use{one, id}]:
		return fmt.Sprintf("this suppression does nothing: %s finds nothing here", id), rule.Info
	}
	return "", rule.Info
}
