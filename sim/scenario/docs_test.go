// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"minos.dev/minos/sim/conduct"
	"minos.dev/minos/sim/machine"
)

// words are all that a scenario can say.
func words() []string {
	all := Fields()
	add := func(word any) { all = append(all, fmt.Sprint(word)) }
	for _, kind := range conduct.Kinds() {
		add(kind)
	}
	for _, call := range conduct.Calls() {
		add(call)
	}
	for _, action := range actions {
		add(action)
	}
	for _, step := range machine.Steps() {
		add(step)
	}
	for _, outcome := range []machine.Outcome{machine.UpgradeSucceeds, machine.UpgradeFails, machine.UpgradeFallsBack} {
		add(outcome)
	}
	return all
}

// TestDocumented holds the page of scenarios to the code: every word that a scenario can say is explained there.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/sim.md")
	if err != nil {
		t.Fatal(err)
	}
	found := words()
	if len(found) < 40 {
		t.Errorf("there are only %d words: %v", len(found), found)
	}
	for _, word := range found {
		if !strings.Contains(string(page), "`"+word+"`") {
			t.Errorf("docs/sim.md does not explain `%s`", word)
		}
	}
}
