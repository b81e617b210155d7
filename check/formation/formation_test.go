// SPDX-License-Identifier: Apache-2.0

package formation_test

import (
	"embed"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/check"
	"minos.dev/minos/check/formation"
	"minos.dev/minos/check/rule"
)

//go:embed testdata
var examples embed.FS

// wanted are the verdicts of the four tests on the cluster of every example; of examples with two clusters, one after the other.
var wanted = map[string][]formation.Verdict{
	"compute-only":           {formation.Passes, formation.NotApplicable, formation.NotApplicable, formation.Passes},
	"compute-without-module": {formation.Fails, formation.NotApplicable, formation.NotApplicable, formation.Passes},
	"compute-with-vpn":       {formation.Fails, formation.NotApplicable, formation.NotApplicable, formation.Fails},
	"mixed":                  {formation.NotApplicable, formation.Passes, formation.Passes, formation.Passes},
	"mixed-two-gateways":     {formation.NotApplicable, formation.Fails, formation.Passes, formation.Passes},
	"mixed-no-route":         {formation.NotApplicable, formation.Passes, formation.Fails, formation.Passes},
	"mixed-running":          {formation.NotApplicable, formation.Fails, formation.Passes, formation.Fails},
	"files":                  {formation.Unknown, formation.NotApplicable, formation.NotApplicable, formation.Unknown},
	"files-of-two-images":    {formation.Unknown, formation.Unknown, formation.NotApplicable, formation.Unknown},
	"files-with-vpn":         {formation.Fails, formation.Fails, formation.NotApplicable, formation.Fails},
	"refused":                {formation.Unknown, formation.Unknown, formation.Unknown, formation.Unknown},
	"nothing":                {formation.NotApplicable, formation.NotApplicable, formation.NotApplicable, formation.NotApplicable},
	"two-clusters": {
		formation.Fails, formation.NotApplicable, formation.NotApplicable, formation.Passes,
		formation.Passes, formation.NotApplicable, formation.NotApplicable, formation.Passes,
	},
}

func TestJudge(t *testing.T) {
	text, err := examples.ReadFile("testdata/clusters.txtar")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, example := range rule.ParseExamples(string(text)) {
		seen++
		t.Run(example.Name, func(t *testing.T) {
			all, err := example.Facts()
			if err != nil {
				t.Fatal(err)
			}
			var got []formation.Verdict
			for _, result := range formation.Judge(all) {
				t.Logf("%s %s: %s: %s", result.Cluster, result.Test, result.Verdict, result.Text)
				got = append(got, result.Verdict)
				if err := sound(result); err != nil {
					t.Error(err)
				}
			}
			if diff := cmp.Diff(wanted[example.Name], got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if seen != len(wanted) {
		t.Errorf("there are %d examples, and %d are wanted", seen, len(wanted))
	}
}

// sound says what is wrong with a result, whatever it is about.
func sound(result formation.Result) error {
	if result.Text == "" || result.Title == "" {
		return fmt.Errorf("%s says nothing", result.Test)
	}
	passed := 0
	for _, one := range result.Evidence {
		passed += one.Passed
		if one.Verdict != verdictOf(one) {
			return fmt.Errorf("%s: %s says %s, and what it found %s", result.Test, one.Rule, one.Verdict, verdictOf(one))
		}
		if _, err := check.Find(one.Rule); err != nil || one.Title == "" {
			return fmt.Errorf("%s: there is no rule %s", result.Test, one.Rule)
		}
		if result.Verdict == formation.Passes && len(one.Found) > 0 {
			return fmt.Errorf("%s passes, and %s found something", result.Test, one.Rule)
		}
	}
	if result.Verdict == formation.Passes && passed == 0 {
		return fmt.Errorf("%s passes, and no rule did", result.Test)
	}
	return nil
}

// verdictOf is what the outcomes of a rule come to.
func verdictOf(one formation.Evidence) formation.Verdict {
	said := func(verdict rule.Verdict) bool {
		return slices.ContainsFunc(one.Found, func(outcome *rule.Outcome) bool { return outcome.Verdict == verdict })
	}
	switch {
	case said(rule.Failed):
		return formation.Fails
	case said(rule.Unknown):
		return formation.Unknown
	case one.Passed > 0:
		return formation.Passes
	}
	return formation.NotApplicable
}
