// SPDX-License-Identifier: Apache-2.0

package format

import (
	"net/url"

	"minos.dev/minos/check"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// The schema and the version of what is written.
const (
	sarifSchema  = "https://json.schemastore.org/sarif-2.1.0.json"
	sarifVersion = "2.1.0"
)

// levels are severities as SARIF names them.
var levels = map[rule.Severity]string{rule.Error: "error", rule.Warning: "warning", rule.Info: "note"}

// Sarif is a report for those who collect findings of many tools: SARIF 2.1.0. What could not be decided is a notification, because
// readers take every result for a finding.
func Sarif(report *check.Report, version string) *SarifLog {
	run := sarifRun{
		Tool:    sarifTool{Driver: sarifDriver{Name: "minos", Version: version, InformationURI: "https://minos.dev"}},
		Results: []sarifResult{}, ColumnKind: "unicodeCodePoints",
		Invocations: []sarifInvocation{{ExecutionSuccessful: true}},
	}
	index := map[string]int{}
	for at, tally := range report.Rules {
		index[tally.Rule] = at
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(tally.Rule))
	}
	for _, finding := range report.Findings {
		run.Results = append(run.Results, sarifResultOf(finding, index[finding.Rule]))
	}
	for _, one := range Unknown(report) {
		run.Invocations[0].Notifications = append(run.Invocations[0].Notifications, sarifNotification{
			Level: "note", Message: sarifText{Text: one.Rule + " could not be decided: " + oneLine(one.Text)}, Rule: &sarifReference{ID: one.Rule, Index: index[one.Rule]},
		})
	}
	return &SarifLog{Schema: sarifSchema, Version: sarifVersion, Runs: []sarifRun{run}}
}

// sarifRuleOf is a rule as SARIF describes it.
func sarifRuleOf(id string) sarifRule {
	one, err := check.Find(id)
	if err != nil {
		return sarifRule{ID: id}
	}
	help := one.Question + "\n\nWhat to do: " + one.Remedy
	return sarifRule{
		ID: one.ID, Short: &sarifText{Text: capital(one.Title)}, Full: &sarifText{Text: one.Question}, Help: &sarifText{Text: help},
		Default: &sarifDefault{Level: levels[one.Severity]}, Properties: &sarifTags{Tags: []string{one.Group()}},
	}
}

// sarifResultOf is a finding as SARIF has it.
func sarifResultOf(finding *check.Finding, index int) sarifResult {
	result := sarifResult{
		RuleID: finding.Rule, RuleIndex: index, Level: levels[finding.Severity],
		Message:      sarifText{Text: message(finding.Outcome) + "\nWhat to do: " + remedy(finding)},
		Locations:    []sarifLocation{sarifLocationOf(finding.Place)},
		Fingerprints: map[string]string{"minos/v1": finding.Fingerprint},
	}
	switch {
	case finding.Suppressed != nil:
		kind := "inSource"
		if finding.Suppressed.Wide() {
			kind = "external"
		}
		result.Suppressions = []sarifSuppression{{Kind: kind, Status: "accepted", Justification: "until " + finding.Suppressed.Until + ": " + finding.Suppressed.Reason}}
	case finding.Known:
		result.Suppressions = []sarifSuppression{{Kind: "external", Status: "accepted", Justification: "in the baseline"}}
	}
	if patch := finding.Patch; patch != nil {
		result.Fixes = []sarifFix{sarifFixOf(patch, remedy(finding))}
	}
	return result
}

// sarifLocationOf is a place. What is about the folder as a whole stands in its settings: readers want a file.
func sarifLocationOf(place facts.Place) sarifLocation {
	file := place.File
	if file == "" {
		file = facts.SettingsFile
	}
	location := sarifLocation{Physical: sarifPhysical{Artifact: artifact(file), Region: &sarifRegion{StartLine: max(1, place.Line)}}}
	for _, part := range [][2]string{{place.Cluster, "namespace"}, {place.Machine, "module"}, {place.Path, "member"}} {
		if part[0] != "" {
			location.Logical = append(location.Logical, sarifLogical{Name: part[0], Kind: part[1]})
		}
	}
	return location
}

// artifact is a file by its address below the folder.
func artifact(file string) sarifArtifact {
	return sarifArtifact{URI: (&url.URL{Path: file}).String(), Base: "%SRCROOT%"}
}

// sarifFixOf is a patch.
func sarifFixOf(patch *rule.Patch, description string) sarifFix {
	region := sarifRegion{StartLine: patch.From, StartColumn: 1, EndLine: max(patch.To+1, patch.From), EndColumn: 1}
	text := ""
	for _, line := range patch.Lines {
		text += line + "\n"
	}
	return sarifFix{
		Description: sarifText{Text: description},
		Changes:     []sarifChange{{Artifact: artifact(patch.File), Replacements: []sarifReplacement{{Deleted: region, Inserted: &sarifText{Text: text}}}}},
	}
}
