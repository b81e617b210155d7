// SPDX-License-Identifier: Apache-2.0

package format_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// A shape is what the schema of SARIF 2.1.0 says of an object: which fields must be there, and which may.
type shape struct {
	required, allowed []string
}

// shapes are those of the objects that are written, by the field that holds them; from the published schema.
var shapes = map[string]shape{
	"":                           {[]string{"version", "runs"}, []string{"$schema"}},
	"runs":                       {[]string{"tool"}, []string{"invocations", "results", "columnKind"}},
	"tool":                       {[]string{"driver"}, nil},
	"driver":                     {[]string{"name"}, []string{"version", "informationUri", "rules"}},
	"rules":                      {[]string{"id"}, []string{"shortDescription", "fullDescription", "help", "defaultConfiguration", "properties"}},
	"shortDescription":           {[]string{"text"}, nil},
	"fullDescription":            {[]string{"text"}, nil},
	"help":                       {[]string{"text"}, nil},
	"defaultConfiguration":       {nil, []string{"level"}},
	"properties":                 {nil, []string{"tags"}},
	"invocations":                {[]string{"executionSuccessful"}, []string{"toolExecutionNotifications"}},
	"toolExecutionNotifications": {[]string{"message"}, []string{"level", "associatedRule"}},
	"associatedRule":             {nil, []string{"id", "index"}},
	"results":                    {[]string{"message"}, []string{"ruleId", "ruleIndex", "level", "locations", "partialFingerprints", "suppressions", "fixes"}},
	"message":                    {[]string{"text"}, nil},
	"description":                {[]string{"text"}, nil},
	"locations":                  {nil, []string{"physicalLocation", "logicalLocations"}},
	"physicalLocation":           {[]string{"artifactLocation"}, []string{"region"}},
	"artifactLocation":           {nil, []string{"uri", "uriBaseId"}},
	"region":                     {[]string{"startLine"}, []string{"startColumn", "endLine", "endColumn"}},
	"deletedRegion":              {[]string{"startLine"}, []string{"startColumn", "endLine", "endColumn"}},
	"logicalLocations":           {nil, []string{"name", "kind"}},
	"partialFingerprints":        {nil, []string{"minos/v1"}},
	"suppressions":               {[]string{"kind"}, []string{"status", "justification"}},
	"fixes":                      {[]string{"artifactChanges"}, []string{"description"}},
	"artifactChanges":            {[]string{"artifactLocation", "replacements"}, nil},
	"replacements":               {[]string{"deletedRegion"}, []string{"insertedContent"}},
	"insertedContent":            {nil, []string{"text"}},
}

// words are the values that a field may have.
var words = map[string][]string{
	"version": {"2.1.0", "v1.2.3"}, "level": {"none", "note", "warning", "error"}, "columnKind": {"utf16CodeUnits", "unicodeCodePoints"},
	"status": {"accepted", "underReview", "rejected"},
}

// sarif says what is wrong with a log.
func sarif(log any) []string {
	problems := below("", "log", log)
	run := at(log, "runs", 0)
	rules, _ := at(run, "tool", "driver", "rules").([]any)
	results, _ := at(run, "results").([]any)
	for number, result := range results {
		index, _ := at(result, "ruleIndex").(float64)
		if int(index) >= len(rules) || at(rules[int(index)], "id") != at(result, "ruleId") {
			problems = append(problems, fmt.Sprintf("result %d does not lead to its rule", number))
		}
		uri, _ := at(result, "locations", 0, "physicalLocation", "artifactLocation", "uri").(string)
		if uri == "" || strings.ContainsAny(uri, " <>") || strings.HasPrefix(uri, "/") {
			problems = append(problems, fmt.Sprintf("result %d: %q is no address below the folder", number, uri))
		}
		if kind, ok := at(result, "suppressions", 0, "kind").(string); ok && kind != "inSource" && kind != "external" {
			problems = append(problems, fmt.Sprintf("result %d: a suppression of kind %q", number, kind))
		}
	}
	return problems
}

// below looks at an object, and at what it holds.
func below(name, path string, value any) []string {
	var problems []string
	switch value := value.(type) {
	case []any:
		for number, item := range value {
			problems = append(problems, below(name, fmt.Sprintf("%s[%d]", path, number), item)...)
		}
	case map[string]any:
		known, ok := shapes[name]
		if !ok {
			return []string{path + ": nobody knows this object"}
		}
		for _, field := range known.required {
			if _, ok := value[field]; !ok {
				problems = append(problems, fmt.Sprintf("%s: %s is required", path, field))
			}
		}
		for _, field := range slices.Sorted(maps.Keys(value)) {
			if !slices.Contains(known.required, field) && !slices.Contains(known.allowed, field) {
				problems = append(problems, fmt.Sprintf("%s: there is no field %s", path, field))
			}
			problems = append(problems, below(field, path+"."+field, value[field])...)
		}
	case string:
		if accepted, ok := words[name]; ok && !slices.Contains(accepted, value) {
			problems = append(problems, fmt.Sprintf("%s: %q is none of %v", path, value, accepted))
		}
	case float64:
		if strings.HasSuffix(name, "Line") && value < 1 {
			problems = append(problems, fmt.Sprintf("%s: %v is no line", path, value))
		}
	}
	return problems
}

// at is what stands at the end of a way.
func at(value any, steps ...any) any {
	for _, step := range steps {
		switch step := step.(type) {
		case string:
			object, _ := value.(map[string]any)
			value = object[step]
		case int:
			list, _ := value.([]any)
			if step >= len(list) {
				return nil
			}
			value = list[step]
		}
	}
	return value
}

// TestSarifWouldNotice breaks a log, and wants that to be seen.
func TestSarifWouldNotice(t *testing.T) {
	for text, want := range map[string]string{
		`{"version": "2.1.0"}`:                                            "log: runs is required",
		`{"version": "2.0.0", "runs": []}`:                                `log.version: "2.0.0" is none of`,
		`{"version": "2.1.0", "runs": [{"tool": {"driver": {}}}]}`:        "driver: name is required",
		`{"version": "2.1.0", "runs": [{"tools": {}}]}`:                   "there is no field tools",
		`{"version": "2.1.0", "runs": [{"results": [{"ruleIndex": 3}]}]}`: "result 0 does not lead to its rule",
	} {
		var log any
		if err := json.Unmarshal([]byte(text), &log); err != nil {
			t.Fatal(err)
		}
		if found := strings.Join(sarif(log), "\n"); !strings.Contains(found, want) {
			t.Errorf("%s: %s", text, found)
		}
	}
}
