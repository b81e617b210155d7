// SPDX-License-Identifier: Apache-2.0

package check

import (
	"cmp"
	"slices"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/remarks"
	"minos.dev/minos/check/rule"
)

// A Finding is a rule that does not hold for a subject.
type Finding struct {
	*rule.Outcome
	// Fingerprint tells it from others, and stays when lines move.
	Fingerprint string `json:"fingerprint"`
	// Suppressed is what bears with it, and Known says that the baseline has it. Neither counts.
	Suppressed *remarks.Suppression `json:"suppressed,omitempty"`
	Known      bool                 `json:"baseline,omitempty"`
}

// Counts says whether somebody has to do something about it.
func (f *Finding) Counts() bool { return f.Suppressed == nil && !f.Known }

// A Tally is what one rule said.
type Tally struct {
	Rule       string `json:"rule"`
	Passed     int    `json:"passed,omitempty"`
	Failed     int    `json:"failed,omitempty"`
	Unknown    int    `json:"unknown,omitempty"`
	Suppressed int    `json:"suppressed,omitempty"`
	Baseline   int    `json:"baseline,omitempty"`
}

// A Lack is a kind of facts that is not at hand, and how many rules said unknown for it.
type Lack struct {
	Input facts.Input `json:"input"`
	Words string      `json:"words"`
	Rules int         `json:"rules"`
}

// A Summary is what a report comes to.
type Summary struct {
	// Error, Warning and Info are how many findings count, by severity.
	Error   int `json:"error"`
	Warning int `json:"warning"`
	Info    int `json:"info"`
	// Suppressed and Baseline are how many do not count, and why.
	Suppressed int `json:"suppressed"`
	Baseline   int `json:"baseline"`
	// Rules are how many rules were asked: how many of them hold wherever they apply, and how many could not be decided somewhere.
	Rules        int `json:"rules"`
	RulesPassed  int `json:"rulesPassed"`
	RulesUnknown int `json:"rulesUnknown"`
	// Lacking are the kinds of facts for lack of which rules could not be decided at all.
	Lacking []Lack `json:"lacking,omitempty"`
	// Files and Objects are how much was looked at.
	Files   int `json:"files"`
	Objects int `json:"objects"`
}

// A Report is what rules say of facts.
type Report struct {
	// Findings are what does not hold, sorted by rule and place.
	Findings []*Finding `json:"findings"`
	// Unknown is what cannot be decided, and why.
	Unknown []*rule.Outcome `json:"unknown,omitempty"`
	// Gone are entries of the baseline that do not occur any more.
	Gone []Entry `json:"gone,omitempty"`
	// Rules are what the rules said, each.
	Rules []Tally `json:"rules"`
	// Summary is what it comes to.
	Summary Summary `json:"summary"`
}

// Reaches says whether any finding that counts is of a severity or worse.
func (r *Report) Reaches(severity rule.Severity) bool {
	return slices.ContainsFunc(r.Findings, func(finding *Finding) bool { return finding.Counts() && finding.Severity >= severity })
}

// compareOutcomes is the order of outcomes: by rule, by where they are, and by what they say.
func compareOutcomes(a, b *rule.Outcome) int {
	return cmp.Or(
		cmp.Compare(order(a.Rule[:3]), order(b.Rule[:3])), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Machine, b.Machine), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Commit, b.Commit),
		cmp.Compare(a.Text, b.Text), cmp.Compare(a.Evidence, b.Evidence),
	)
}

// summarise counts.
func (r *Report) summarise(all *facts.Facts, rules []*rule.Rule) {
	sum := Summary{Rules: len(rules), Files: len(all.Files), Objects: len(all.Documents)}
	for _, finding := range r.Findings {
		switch {
		case finding.Suppressed != nil:
			sum.Suppressed++
		case finding.Known:
			sum.Baseline++
		case finding.Severity == rule.Error:
			sum.Error++
		case finding.Severity == rule.Warning:
			sum.Warning++
		default:
			sum.Info++
		}
	}
	for _, tally := range r.Rules {
		switch {
		case tally.Unknown > 0:
			sum.RulesUnknown++
		case tally.Failed == 0 && tally.Passed > 0:
			sum.RulesPassed++
		}
	}
	sum.Lacking = lacking(all, rules)
	r.Summary = sum
}

// lacking counts rules that have nothing to judge by, by what they would need; a rule that needs one of several counts for each.
func lacking(all *facts.Facts, rules []*rule.Rule) []Lack {
	counts := map[facts.Input]int{}
	for _, one := range rules {
		if missing := all.Without(one.Inputs); len(missing) == len(one.Inputs) {
			for _, input := range missing {
				counts[input]++
			}
		}
	}
	var found []Lack
	for _, input := range facts.Inputs() {
		if counts[input] > 0 {
			found = append(found, Lack{Input: input, Words: input.String(), Rules: counts[input]})
		}
	}
	slices.SortStableFunc(found, func(a, b Lack) int { return cmp.Compare(b.Rules, a.Rules) })
	return found
}
