// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"slices"
	"strings"
	"testing"

	"minos.dev/minos/check"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// TestWhatIsNotReadIsNotPassed has every rule about running clusters alone hear that nothing of one could be read: each says unknown,
// and why.
func TestWhatIsNotReadIsNotPassed(t *testing.T) {
	var unread []facts.Unread
	for _, kind := range append(facts.LiveResources(), facts.LiveNodes) {
		unread = append(unread, facts.Unread{What: kind, Why: "nobody answers"})
	}
	all := &facts.Facts{Live: &facts.LiveFacts{Resources: map[string][]*facts.Saved{}, Readings: []facts.Reading{{Node: "192.0.2.7", Unread: unread}}}}
	asked := 0
	for _, one := range check.Rules() {
		if !slices.Equal(one.Inputs, []facts.Input{facts.Live}) {
			continue
		}
		asked++
		outcomes := one.Apply(all)
		for _, outcome := range outcomes {
			if outcome.Verdict != rule.Unknown {
				t.Errorf("%s says %s: %s", one.ID, outcome.Verdict, outcome.Text)
			}
		}
		if !slices.ContainsFunc(outcomes, func(outcome *rule.Outcome) bool {
			return outcome.Machine == "192.0.2.7" && strings.HasPrefix(outcome.Text, "could not read ")
		}) {
			t.Errorf("%s does not say what could not be read: it has no Reads", one.ID)
		}
	}
	if asked < 6 {
		t.Errorf("only %d rules are about running clusters", asked)
	}
}
