// SPDX-License-Identifier: Apache-2.0

package talhelper

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSubstitute(t *testing.T) {
	variables := map[string]string{"NAME": "value", "OTHER": "more", "EMPTY": "", "kleine_Name1": "x"}
	tests := map[string]struct{ text, want, wantError string }{
		"no variable":                 {"plain text", "plain text", ""},
		"bare":                        {"a $NAME.b", "a value.b", ""},
		"in braces":                   {"a${NAME}b${OTHER}", "avaluebmore", ""},
		"letters of any case":         {"${kleine_Name1}", "x", ""},
		"a dollar":                    {"$$patch: delete, 5$ and $", "$patch: delete, 5$ and $", ""},
		"braces without a name":       {"${}", "${}", ""},
		"a default that is not used":  {"${NAME:-no}", "value", ""},
		"a default":                   {"${NOTHING:-no}", "no", ""},
		"a default with blanks":       {"${NOTHING:-a b: c}", "a b: c", ""},
		"a default by another":        {"${NOTHING:-$OTHER}", "more", ""},
		"a default without colon":     {"${NOTHING-no}", "no", ""},
		"a default by assignment":     {"${NOTHING:=no}${NOTHING=yes}", "noyes", ""},
		"instead of an empty one":     {"${EMPTY:-no}", "no", ""},
		"if it is set":                {"[${NAME:+yes}${NOTHING:+no}${NAME+too}]", "[yestoo]", ""},
		"not set":                     {"$NOTHING", "", "the variable NOTHING is not set: put it into talenv.yaml, or give it with --env"},
		"set to nothing":              {"${EMPTY}", "", "the variable EMPTY is empty, which talhelper refuses"},
		"set to nothing, no colon":    {"${EMPTY-no}", "", "the variable EMPTY is empty, which talhelper refuses"},
		"an empty default":            {"${NOTHING:-}", "", "the variable NOTHING is not set: put it into talenv.yaml, or give it with --env"},
		"not closed":                  {"${NAME", "", "${NAME has no closing brace"},
		"not closed on its line":      {"${NAME\n}", "", "${NAME has no closing brace"},
		"a default that is in braces": {"${NOTHING:-${NAME}}", "", "${NOTHING has a variable in braces for its default, which talhelper does not understand"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := substitute(test.text, variables)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if got != test.want || text != test.wantError {
				t.Errorf("got  %q, %q\nwant %q, %q", got, text, test.want, test.wantError)
			}
		})
	}
}

func TestSubstitutedPassesOverComments(t *testing.T) {
	got, err := substituted([]byte("# ${NOT_SET}\na: ${NAME} # $NOT_SET\n"), map[string]string{"NAME": "b"})
	if err != nil || string(got) != "a: b\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestParseEnv(t *testing.T) {
	tests := map[string]struct {
		text      string
		want      map[string]string
		wantError string
	}{
		"nothing":              {"\n# only a comment\n---\n", map[string]string{}, ""},
		"as YAML":              {"A: b\nlower: c d\n", map[string]string{"A": "b", "lower": "c d"}, ""},
		"as a shell":           {"export A=b\nB = c\n", map[string]string{"A": "b", "B": "c"}, ""},
		"a comment behind":     {"A: b # c\nB: d#e\n", map[string]string{"A": "b", "B": "d#e"}, ""},
		"quotes":               {"A: \"b # c\"\nB: 'd $E'\n", map[string]string{"A": "b # c", "B": "d $E"}, ""},
		"escapes":              {`A: "b\nc\"d"`, map[string]string{"A": "b\nc\"d"}, ""},
		"over several lines":   {"A: \"b\nc\"\nB: d", map[string]string{"A": "b\nc", "B": "d"}, ""},
		"by another":           {"A: b\nB: ${A}/$A/\\$A\nC: $lower", map[string]string{"A": "b", "B": "b/b/$A", "C": "$lower"}, ""},
		"no value":             {"A:\nB: c", map[string]string{"A": "", "B": "c"}, ""},
		"an address":           {"A: https://10.0.0.1:6443", map[string]string{"A": "https://10.0.0.1:6443"}, ""},
		"lines of Windows":     {"A: b\r\nB: c\r\n", map[string]string{"A": "b", "B": "c"}, ""},
		"a name with a hyphen": {"A: b\nmy-var: c\n", nil, "line 2: is not NAME: value"},
		"a list":               {"A:\n  - b\n", nil, "line 2: is not NAME: value"},
		"a quote left open":    {"A: \"b\n", nil, "line 1: a quote is not closed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseEnv(test.text)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" || text != test.wantError {
				t.Errorf("%s\nerror %q, want %q", diff, text, test.wantError)
			}
		})
	}
}
