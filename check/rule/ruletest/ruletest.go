// SPDX-License-Identifier: Apache-2.0

// Package ruletest holds rules to their examples.
package ruletest

import (
	"fmt"
	"slices"
	"testing"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// Run has every rule judge its own examples, and wants the verdict that each example is called by.
func Run(t *testing.T, rules []*rule.Rule) {
	t.Helper()
	for _, one := range rules {
		examples := rule.ParseExamples(one.Examples)
		for _, verdict := range []string{"fail", "pass"} {
			if !slices.ContainsFunc(examples, func(example rule.Example) bool { return example.Verdict() == verdict }) {
				t.Errorf("%s: there is no example that is to %s", one.ID, verdict)
			}
		}
		for _, example := range examples {
			t.Run(one.ID+"/"+example.Name, func(t *testing.T) { judge(t, one, example) })
		}
	}
}

// judge has a rule judge one example.
func judge(t *testing.T, one *rule.Rule, example rule.Example) {
	t.Helper()
	all, err := example.Facts()
	if err != nil {
		t.Fatal(err)
	}
	if one.Group() != "MIN" {
		for _, problem := range slices.Concat(all.Problems, all.Unread) {
			t.Errorf("the example itself is wrong: %s", problem)
		}
	}
	counts := map[rule.Verdict]int{}
	outcomes := one.Apply(all)
	for _, outcome := range outcomes {
		t.Logf("%s %s %s: %s %s", outcome.Verdict, outcome.Severity, where(outcome.Place), outcome.Text, outcome.Evidence)
		counts[outcome.Verdict]++
	}
	if problem := compare(example.Verdict(), counts); problem != "" {
		t.Error(problem)
	}
	mend(t, one, example, outcomes)
}

// compare says what is wrong with what a rule said, by the verdict that was wanted.
func compare(wanted string, counts map[rule.Verdict]int) string {
	said := fmt.Sprintf("%d failed, %d passed, %d unknown", counts[rule.Failed], counts[rule.Passed], counts[rule.Unknown])
	ok := false
	switch wanted {
	case "fail":
		ok = counts[rule.Failed] > 0
	case "pass":
		ok = counts[rule.Failed] == 0 && counts[rule.Unknown] == 0 && counts[rule.Passed] > 0
	case "unknown":
		ok = counts[rule.Failed] == 0 && counts[rule.Unknown] > 0
	case "silent":
		ok = len(counts) == 0
	default:
		return fmt.Sprintf("an example is called fail, pass, unknown or silent, and not %s", wanted)
	}
	if ok {
		return ""
	}
	return fmt.Sprintf("it is to %s, and the rule said: %s", wanted, said)
}

// where is a place in a few words.
func where(place facts.Place) string {
	return fmt.Sprintf("%s %s %s:%d %s", place.Cluster, place.Machine, place.File, place.Line, place.Path)
}
