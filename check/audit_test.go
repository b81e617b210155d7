// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/check"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// wanted is how many rules each group has. A rule is never taken out, and its ID never used again.
var wanted = map[string]int{
	"PLT": 15, "CPL": 17, "CFG": 22, "SEC": 23, "NET": 19, "STO": 15, "IMG": 13, "EXT": 15, "ROL": 13, "GPU": 9, "UPG": 20, "OPS": 10, "FLT": 4,
	"MIN": 6,
}

// TestNumbers holds every group to its number of rules, numbered without a gap.
func TestNumbers(t *testing.T) {
	found := map[string]int{}
	for _, one := range check.Rules() {
		found[one.Group()]++
	}
	if diff := cmp.Diff(wanted, found); diff != "" {
		t.Errorf("rules by group (-wanted +found):\n%s", diff)
	}
	for group, count := range wanted {
		for number := range count {
			if _, err := check.Find(fmt.Sprintf("%s-%03d", group, number+1)); err != nil && found[group] > 0 {
				t.Error(err)
			}
		}
	}
	for _, group := range check.Groups() {
		if wanted[group.ID] == 0 || group.Title == "" || group.Folder == "" {
			t.Errorf("%+v is not complete", group)
		}
	}
}

// form is how an ID looks.
var form = regexp.MustCompile(`^[A-Z]{3}-[0-9]{3}$`)

// TestEveryRuleIsComplete holds every rule to what people and programs rely on.
func TestEveryRuleIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, one := range check.Rules() {
		for _, problem := range incomplete(one) {
			t.Errorf("%s: %s", one.ID, problem)
		}
		if seen[one.ID] {
			t.Errorf("%s is there twice", one.ID)
		}
		seen[one.ID] = true
	}
}

// incomplete says what is missing in a rule.
func incomplete(one *rule.Rule) []string {
	var problems []string
	add := func(wrong bool, text string) {
		if wrong {
			problems = append(problems, text)
		}
	}
	known := slices.ContainsFunc(check.Groups(), func(group check.Group) bool { return group.ID == one.Group() })
	add(!form.MatchString(one.ID) || !known, "the ID is not one of a group")
	add(one.Title == "" || strings.HasSuffix(one.Title, "."), "the title is no sentence without a full stop")
	add(len(one.Question) < 60 || !strings.Contains(one.Question, "?"), "the question does not ask and explain")
	add(one.Remedy == "", "there is no remedy")
	add(len(one.Inputs) == 0, "it reads nothing")
	for _, input := range one.Inputs {
		add(!slices.Contains(facts.Inputs(), input), "it reads what nobody gathers: "+string(input))
	}
	add(len(one.Sources) == 0, "there is no reason for it")
	for _, code := range one.Sources {
		add(check.Source(code) == "", "nobody knows the reason "+code)
	}
	add(one.Judge == nil, "it judges nothing")
	verdicts := map[string]int{}
	for _, example := range rule.ParseExamples(one.Examples) {
		verdicts[example.Verdict()]++
	}
	add(verdicts["fail"] == 0, "there is no example that fails")
	add(verdicts["pass"] == 0, "there is no example that passes")
	return problems
}

// codes are all that must be covered: six decisions, four patterns, six anti-patterns, six things to watch, ten lines of the
// checklist, five neighbours, images by role with their four proofs.
var codes = []string{
	"D1", "D2", "D3", "D4", "D5", "D6", "P1", "P2", "P3", "P4", "A1", "A2", "A3", "A4", "A5", "A6", "F1", "F2", "F3", "F4", "F5", "F6",
	"C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9", "C10", "C1-C10", "X Kubernetes", "X ArgoCD", "X multi-cluster", "X Nix", "X infrastructure",
	"ADR", "ADR test 01", "ADR test 02", "ADR test 03", "ADR test 04", "ADR-0005",
}

// TestEverythingIsCovered holds the table of reasons to the rules that there are.
func TestEverythingIsCovered(t *testing.T) {
	var found []string
	for _, reason := range check.Reasons() {
		found = append(found, reason.Code)
		if len(reason.Rules) == 0 || reason.Words == "" {
			t.Errorf("%s is covered by nothing", reason.Code)
		}
		for _, id := range reason.Rules {
			if _, err := check.Find(id); err != nil {
				t.Errorf("%s: %v", reason.Code, err)
			}
		}
	}
	slices.Sort(found)
	want := slices.Sorted(slices.Values(codes))
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("reasons (-wanted +found):\n%s", diff)
	}
}

// TestReasonsAgree holds what a rule names as its reason to the table, which is what the documentation shows.
func TestReasonsAgree(t *testing.T) {
	covers := map[string][]string{}
	for _, reason := range check.Reasons() {
		covers[reason.Code] = reason.Rules
	}
	for _, one := range check.Rules() {
		for _, code := range one.Sources {
			if rules, ok := covers[code]; ok && !slices.Contains(rules, one.ID) {
				t.Errorf("%s names %s as its reason, and the table does not", one.ID, code)
			}
		}
	}
}
