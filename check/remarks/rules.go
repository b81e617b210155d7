// SPDX-License-Identifier: Apache-2.0

package remarks

import (
	"embed"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

//go:embed examples
var examples embed.FS

// Suppressed is the ID of the rule about suppressions.
const Suppressed = "MIN-003"

// Rules returns the rules.
func Rules() []*rule.Rule {
	return rule.Set(examples,
		&rule.Rule{
			ID: Suppressed, Title: "every suppression has a rule, a reason and an end that is still to come, and something to suppress",
			Question: "Is what somebody chose to bear with still meant so? A suppression without a reason cannot be judged by whoever comes later, one without an end is for ever, and one that ended or that covers nothing hides what nobody looks at any more. One that is not valid suppresses nothing.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Catalogue}, Remedy: "write it as '# minos:ignore NET-011 until 2027-01-31: reason', or remove it",
			Sources: []string{"Minos"}, Judge: valid,
		},
		&rule.Rule{
			ID: "MIN-004", Title: "every note to the checks is one that they know",
			Question: "Does a note mean anything? Notes tell the checks what files do not show, such as how etcd is backed up. One with a slip of the pen in its name is read by nobody, and the finding that it was to answer stays.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Catalogue}, Remedy: "correct the name of the note",
			Sources: []string{"Minos"}, Judge: notes,
		},
		&rule.Rule{
			ID: "MIN-005", Title: "every change is one that can be made to what exists",
			Question: "Can a running cluster follow the change? Some things are settled once: the kind of a control plane, the networks of a cluster, the cluster of a pool. A management cluster refuses such a change, and a folder shows it only beside the state before.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Spec}, Remedy: "keep what was there, or make a new object and move to it",
			Sources: []string{"Minos"}, Judge: changes,
		},
	)
}

// valid says which suppressions do not count.
func valid(all *facts.Facts, sheet *rule.Sheet) {
	for _, one := range Suppressions(all) {
		if one.Problem == "" {
			sheet.Pass(one.Place)
			continue
		}
		outcome := sheet.Fail(one.Place, "this suppression does not count: %s", one.Problem)
		outcome.Patch = nil // the finding that comes back is not to be lost with it
	}
}
