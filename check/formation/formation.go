// SPDX-License-Identifier: Apache-2.0

// Package formation says, before anything boots, whether clusters of machines with role-based images form: four tests, each of which
// is some of the rules, asked together for one cluster.
package formation

import (
	"fmt"
	"slices"
	"strings"

	"minos.dev/minos/check"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// A Verdict is what a test says of a cluster.
type Verdict string

// The verdicts.
const (
	Passes        Verdict = "passes"
	Fails         Verdict = "fails"
	NotApplicable Verdict = "not applicable"
	Unknown       Verdict = "unknown"
)

// A Result is what one test says of one cluster.
type Result struct {
	// Cluster is the cluster.
	Cluster string `json:"cluster"`
	// Test is the name of the test, and Title what it shows.
	Test  string `json:"test"`
	Title string `json:"title"`
	// Verdict is what it says, and Text why, in one line.
	Verdict Verdict `json:"verdict"`
	Text    string  `json:"text"`
	// Live says that a running cluster was heard too.
	Live bool `json:"live"`
	// Seen is what was seen of each machine of a running cluster.
	Seen []Seen `json:"seen,omitempty"`
	// Evidence is what the rules said, each.
	Evidence []Evidence `json:"evidence,omitempty"`
}

// Evidence is what one rule says of one cluster.
type Evidence struct {
	// Rule is its ID, and Title what holds when it passes.
	Rule  string `json:"rule"`
	Title string `json:"title"`
	// Verdict is what it says.
	Verdict Verdict `json:"verdict"`
	// Passed is on how many subjects it holds.
	Passed int `json:"passed"`
	// Found is where it does not hold, or cannot be decided.
	Found []*rule.Outcome `json:"found,omitempty"`
}

// Judge has all tests judge all clusters, in the order of the facts.
func Judge(all *facts.Facts) []Result {
	heard := hear(all, asked(all))
	found := []Result{}
	for _, cluster := range all.Clusters {
		for _, one := range tests {
			found = append(found, one.judge(all, cluster, heard[cluster.Title()]))
		}
	}
	return found
}

// said is what rules say of one cluster, by rule.
type said map[string][]*rule.Outcome

// hear has every rule that a test needs judge once, and sorts what it says by cluster.
func hear(all *facts.Facts, ids []string) map[string]said {
	found := map[string]said{}
	for _, cluster := range all.Clusters {
		found[cluster.Title()] = said{}
	}
	for _, id := range ids {
		outcomes := ask(id, all)
		var machines []string
		for _, outcome := range outcomes {
			machines = append(machines, outcome.Machine)
		}
		owners := all.Owners(machines)
		for _, outcome := range outcomes {
			title := outcome.Cluster
			if owner := owners[outcome.Machine]; title == "" && outcome.Machine != "" && owner != nil {
				title = owner.Title()
			}
			for cluster, rules := range found {
				if title == "" || title == cluster { // what is of no cluster is of the whole folder
					rules[id] = append(rules[id], outcome)
				}
			}
		}
	}
	return found
}

// asked are the rules that are asked. Those about running clusters are where something is known of one.
func asked(all *facts.Facts) []string {
	var ids []string
	for _, one := range tests {
		ids = append(ids, one.rules...)
		if all.Live != nil {
			ids = append(ids, one.live...)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// ask has one rule judge whatever is there: that there is nothing to judge by is for the test to say. One that breaks down decides
// nothing.
func ask(id string, all *facts.Facts) (outcomes []*rule.Outcome) {
	defer func() {
		if recover() != nil {
			outcomes = []*rule.Outcome{{Rule: id, Verdict: rule.Unknown, Text: "the rule itself broke down: this is a mistake in Minos, please report it"}}
		}
	}()
	found, err := check.Find(id)
	if err != nil {
		return []*rule.Outcome{{Rule: id, Verdict: rule.Unknown, Text: err.Error()}}
	}
	one := *found
	one.Inputs = []facts.Input{facts.Catalogue}
	return one.Apply(all)
}

// judge has a test judge a cluster by what the rules said of it.
func (t test) judge(all *facts.Facts, cluster *facts.Cluster, rules said) Result {
	result := Result{Cluster: cluster.Title(), Test: t.name, Title: t.title, Live: all.Live != nil && len(t.live) > 0}
	for _, pool := range cluster.Pools {
		if pool.Refused != nil {
			why, _, _ := strings.Cut(pool.Refused.Error(), "\n") // the rest may be what somebody wrote, with secrets in it
			result.Verdict, result.Text = Unknown, fmt.Sprintf("no configuration can be made of pool %s: %s", pool.Object.Name, why)
			return result
		}
	}
	if !t.applies(cluster, rules) {
		result.Verdict, result.Text = NotApplicable, t.otherwise
		return result
	}
	ids := t.rules
	if all.Live != nil {
		ids = slices.Compact(slices.Concat(t.rules, t.live))
	}
	result.weigh(ids, rules)
	return result
}

// weigh takes what rules said as evidence, and concludes from all evidence.
func (r *Result) weigh(ids []string, rules said) {
	for _, id := range ids {
		r.Evidence = append(r.Evidence, evidence(id, rules[id]))
	}
	r.conclude()
}

// evidence is what a rule said of a cluster.
func evidence(id string, outcomes []*rule.Outcome) Evidence {
	found := Evidence{Rule: id, Verdict: NotApplicable}
	if one, err := check.Find(id); err == nil {
		found.Title = one.Title
	}
	for _, outcome := range outcomes {
		switch outcome.Verdict {
		case rule.Passed:
			found.Passed++
			if found.Verdict == NotApplicable {
				found.Verdict = Passes
			}
			continue
		case rule.Failed:
			found.Verdict = Fails
		case rule.Unknown:
			if found.Verdict != Fails {
				found.Verdict = Unknown
			}
		}
		found.Found = append(found.Found, outcome)
	}
	return found
}

// conclude says what the evidence comes to: one rule that does not hold is enough to fail, and one that cannot be decided enough not
// to pass.
func (r *Result) conclude() {
	r.Verdict, r.Text = NotApplicable, "no rule of it has anything to say here"
	if slices.ContainsFunc(r.Evidence, func(one Evidence) bool { return one.Passed > 0 }) {
		r.Verdict, r.Text = Passes, "every rule of it holds"
	}
	for _, worse := range []struct {
		said rule.Verdict
		then Verdict
	}{{rule.Unknown, Unknown}, {rule.Failed, Fails}} { // the worst last
		found := r.found(worse.said)
		if len(found) == 0 {
			continue
		}
		r.Verdict, r.Text = worse.then, fmt.Sprintf("%s: %s", found[0].Rule, found[0].Text)
		if len(found) > 1 {
			r.Text += fmt.Sprintf(" (and %d more)", len(found)-1)
		}
	}
}

// found is where rules said one thing.
func (r *Result) found(verdict rule.Verdict) []*rule.Outcome {
	var found []*rule.Outcome
	for _, one := range r.Evidence {
		for _, outcome := range one.Found {
			if outcome.Verdict == verdict {
				found = append(found, outcome)
			}
		}
	}
	return found
}
