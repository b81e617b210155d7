// SPDX-License-Identifier: Apache-2.0

package format

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"

	"minos.dev/minos/check"
	"minos.dev/minos/check/rule"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	File    string        `xml:"file,attr,omitempty"`
	Line    int           `xml:"line,attr,omitempty"`
	Failure *junitMessage `xml:"failure,omitempty"`
	Skipped *junitMessage `xml:"skipped,omitempty"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// JUnit is a report as test results: a suite a subject, a case a finding, and a case for every rule that holds or could not be
// decided. Findings that are milder than the level are no failures, so that the results agree with the exit code.
func JUnit(report *check.Report, level rule.Severity) ([]byte, error) {
	all := junitSuites{Name: "minos check"}
	findings, open := map[string][]*check.Finding{}, map[string][]string{}
	for _, finding := range report.Findings {
		findings[finding.Rule] = append(findings[finding.Rule], finding)
	}
	for _, one := range Unknown(report) {
		open[one.Rule] = append(open[one.Rule], one.Text)
	}
	for _, group := range check.Groups() {
		suite := junitSuite{Name: group.Title}
		for _, tally := range report.Rules {
			if tally.Rule[:3] == group.ID {
				suite.Cases = append(suite.Cases, casesOf(tally, findings[tally.Rule], open[tally.Rule], level)...)
			}
		}
		for _, one := range suite.Cases {
			suite.Tests++
			suite.Failures += count(one.Failure != nil)
			suite.Skipped += count(one.Skipped != nil)
		}
		if suite.Tests > 0 {
			all.Suites = append(all.Suites, suite)
			all.Tests, all.Failures, all.Skipped = all.Tests+suite.Tests, all.Failures+suite.Failures, all.Skipped+suite.Skipped
		}
	}
	var out bytes.Buffer
	out.WriteString(xml.Header)
	encoder := xml.NewEncoder(&out)
	encoder.Indent("", "  ")
	if err := encoder.Encode(all); err != nil {
		return nil, err
	}
	out.WriteString("\n")
	return out.Bytes(), nil
}

// casesOf are the cases of one rule: what it found, and why it could not be decided.
func casesOf(tally check.Tally, findings []*check.Finding, open []string, level rule.Severity) []junitCase {
	var cases []junitCase
	for _, finding := range findings {
		cases = append(cases, caseOf(finding, level))
	}
	title := tally.Rule
	if one, err := check.Find(tally.Rule); err == nil {
		title += ": " + one.Title
	}
	if len(open) > 0 {
		cases = append(cases, junitCase{Name: title, Class: tally.Rule, Skipped: &junitMessage{Message: strings.Join(open, "; ")}})
	} else if len(cases) == 0 && tally.Passed > 0 {
		cases = append(cases, junitCase{Name: title, Class: tally.Rule})
	}
	return cases
}

// caseOf is a finding as a case.
func caseOf(finding *check.Finding, level rule.Severity) junitCase {
	one := junitCase{Name: Line(finding), Class: finding.Rule, File: finding.File, Line: finding.Place.Line}
	switch {
	case finding.Suppressed != nil:
		one.Skipped = &junitMessage{Message: fmt.Sprintf("suppressed until %s: %s", finding.Suppressed.Until, finding.Suppressed.Reason)}
	case finding.Known:
		one.Skipped = &junitMessage{Message: "in the baseline"}
	case finding.Severity >= level:
		one.Failure = &junitMessage{Message: message(finding.Outcome), Type: finding.Severity.String(), Text: remedy(finding)}
	default:
		one.Output = finding.Severity.String() + ": " + message(finding.Outcome) + "\n" + remedy(finding)
	}
	return one
}

// count is one for what is so.
func count(so bool) int {
	if so {
		return 1
	}
	return 0
}
