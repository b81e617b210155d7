// SPDX-License-Identifier: Apache-2.0

// Package declarations has the rules about declarations of our own kinds: that each is valid, and that all fit together.
package declarations

import (
	"embed"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

//go:embed examples
var examples embed.FS

// Rules returns the rules.
func Rules() []*rule.Rule {
	return rule.Set(examples,
		&rule.Rule{
			ID: "MIN-001", Title: "every declaration is one that a management cluster would accept",
			Question: "Would the API server take what the files declare? A field that no kind has, or a value that is refused, is a slip that would otherwise show when somebody applies the files.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Spec, facts.Tree}, Remedy: "correct the field: the line says which value it may have",
			Sources: []string{"Minos"}, Judge: valid,
		},
		&rule.Rule{
			ID: "MIN-002", Title: "every name in a declaration leads somewhere, and what it leads to fits",
			Question: "Do pools find their cluster, their role and their place, and do versions, extensions, addresses and kinds of machines fit together? The definitions see one object at a time and cannot tell.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Spec}, Remedy: "declare what is missing, or correct the name",
			Sources: []string{"Minos"}, Judge: references,
		},
		&rule.Rule{
			ID: "MIN-006", Title: "the configuration of every machine can be made, and Talos takes it",
			Question: "Does a machine configuration come out of the declarations? Patches that touch what Minos keeps for itself, documents that the version of Talos does not know and settings that Talos refuses would otherwise show when somebody renders, or when machines are to be made.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Spec}, Remedy: "correct the patch or the setting that the line names",
			Sources: []string{"Minos", "T"}, Judge: made,
		},
	)
}

// valid says what the definitions refuse.
func valid(all *facts.Facts, sheet *rule.Sheet) {
	for _, problem := range all.Problems {
		sheet.Fail(facts.Place{File: problem.File, Line: problem.Line, Path: problem.Path, Environment: all.Whole().Environment}, "%s", problem.Text)
	}
	for _, problem := range all.Unread {
		sheet.FailAs(rule.Warning, facts.Place{File: problem.File, Line: problem.Line, Environment: all.Whole().Environment}, "%s", problem.Text)
	}
	for _, document := range all.Documents {
		sheet.Pass(facts.Place{File: document.File, Line: document.LineOf("metadata.name")})
	}
}

// references says what leads nowhere, or to what does not fit.
func references(all *facts.Facts, sheet *rule.Sheet) {
	problems, err := References(all.Documents)
	if err != nil {
		sheet.Unknown(all.Whole(), "the declarations could not be put together: %v", err)
		return
	}
	for _, problem := range problems {
		sheet.Fail(facts.Place{File: problem.File, Line: problem.Line, Path: problem.Path, Environment: all.Whole().Environment}, "%s", problem.Text)
	}
	if len(problems) == 0 {
		sheet.Pass(all.Whole())
	}
}

// made says of which pools no configuration can be made. Where names lead nowhere that follows from them, and says nothing new.
func made(all *facts.Facts, sheet *rule.Sheet) {
	problems, err := References(all.Documents)
	for _, pool := range all.Pools {
		switch {
		case pool.Refused == nil:
			sheet.Pass(pool.At("spec"))
		case err != nil || len(problems) > 0:
			sheet.Unknown(pool.At("spec"), "the configuration of pool %s cannot be made while what MIN-002 finds is wrong", pool.Object.Name)
		default:
			sheet.Fail(pool.At("spec"), "no configuration can be made for pool %s: %s", pool.Object.Name, withoutValues(pool.Refused))
		}
	}
}

// withoutValues is an error on one line. What Talos cites of a document below its first line may hold a secret: of that only the keys
// remain.
func withoutValues(err error) string {
	first, rest, _ := strings.Cut(err.Error(), "\n")
	for line := range strings.Lines(rest) {
		key, _, _ := strings.Cut(strings.TrimSpace(line), ":")
		if key != "" {
			first += " " + key + ":"
		}
	}
	return strings.TrimSuffix(first, ":")
}
