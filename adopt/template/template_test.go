// SPDX-License-Identifier: Apache-2.0

package template_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"minos.dev/minos/adopt/template"
)

var facts = map[string]any{
	"Name": "a", "Nothing": "", "List": []any{"x", "y"}, "Number": 3, "Data": map[string]any{"k": "v"},
}

func TestRender(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"no template":    {"a: $x }}", "a: $x }}"},
		"a field":        {"{{ .Name }}", "a"},
		"choices":        {`{{ .Nothing | default "b" }}{{ .Name | default "b" }}{{ coalesce .Nothing "c" }}{{ ternary "y" "n" (eq .Name "a") }}`, "bacy"},
		"texts":          {`{{ upper .Name }}{{ "A-b" | lower | replace "-" "." | trimSuffix "b" }}{{ trimAll "-" "-x-" }}{{ trunc 2 "abc" }}{{ trunc -2 "abc" }}`, "Aa.xabbc"},
		"words":          {`{{ contains "b" "abc" }}{{ hasPrefix "a" "abc" }}{{ regexMatch "^a.c$" "abc" }}{{ regexReplaceAll "b" "abc" "-" }}`, "truetruetruea-c"},
		"quotes":         {`{{ quote .Name 3 }} {{ squote "x" }}`, `"a" "3" 'x'`},
		"blanks":         {`{{ "a\nb" | indent 2 }}|{{ "a" | nindent 1 }}`, "  a\n  b|\n a"},
		"lists":          {`{{ join "," .List }}{{ first .List }}{{ last .List }}{{ has "x" .List }}{{ splitList "." "a.b" | last }}`, "x,yxytrueb"},
		"mappings":       {`{{ get .Data "k" }}{{ hasKey .Data "z" }}{{ keys (dict "b" 1 "a" 2) }}`, "vfalse[a b]"},
		"numbers":        {`{{ add 1 2 3 }}{{ sub 5 2 }}{{ mul 2 .Number }}{{ int "7" }}{{ range until 3 }}{{ . }}{{ end }}`, "6367012"},
		"formats":        {`{{ b64enc "a" }}{{ b64dec "YQ==" }}{{ toJson .List }}{{ toYaml .Data }}`, `YQ==a["x","y"]k: v`},
		"versions":       {`{{ semverCompare ">= 1.14.0-0" "1.14.1" }}{{ semverCompare "<1.14.0" "v1.13.9" }}{{ semverCompare ">=1.13.0, <1.14.0" "1.13.5" }}`, "truetruetrue"},
		"a variable":     {`{{ env "GIVEN" }}`, "yes"},
		"one of its own": {`{{ define "x" }}({{ . }}){{ end }}{{ range .List }}{{ template "x" . }}{{ end }}`, "(x)(y)"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := template.Render(test.text, facts, template.Options{Strict: true, Env: map[string]string{"GIVEN": "yes"}})
			if err != nil || got != test.want {
				t.Errorf("got  %q, %v\nwant %q", got, err, test.want)
			}
		})
	}
}

// TestRefuses holds templates to their bounds. None of them may take long.
func TestRefuses(t *testing.T) {
	double := `{{ $x := "0123456789" }}{{ range until 60 }}{{ $x = %s }}{{ end }}{{ len $x }}`
	tests := map[string]struct{ text, want string }{
		"a function that is not there":   {`{{ genCA "x" 1 }}`, `the template uses the function "genCA", which is not supported here`},
		"a clock":                        {`{{ now }}`, `the template uses the function "now", which is not supported here`},
		"a variable that was not given":  {`{{ env "HOME" }}`, "the variable HOME was not given"},
		"a key that is not there":        {`{{ .Missing }}`, `map has no entry for key "Missing"`},
		"a loop without end":             {`{{ range 1000000000 }}{{ end }}`, "it takes more than 100000 steps"},
		"a loop in place of another":     {`{{ range list }}{{ else }}{{ range 1000000000 }}{{ end }}{{ end }}`, "it takes more than 100000 steps"},
		"loops in loops":                 {`{{ range 100000 }}{{ range 100000 }}{{ end }}{{ end }}`, "it takes more than 100000 steps"},
		"a template that calls itself":   {`{{ define "x" }}{{ template "x" }}{{ template "x" }}{{ end }}{{ template "x" }}`, "it takes more than 100000 steps"},
		"much output":                    {`{{ range 90000 }}0123456789abcdef{{ end }}`, "it writes more than 1048576 bytes"},
		"text that doubles by printf":    {strings.Replace(double, "%s", `printf "%s%s" $x $x`, 1), "a value has more than 1048576 bytes"},
		"text that doubles by print":     {strings.Replace(double, "%s", `print $x $x`, 1), "a value has more than 1048576 bytes"},
		"text that doubles by replace":   {strings.Replace(double, "%s", `replace "0" "00" $x`, 1), "a value has more than 1048576 bytes"},
		"text that doubles by join":      {strings.Replace(double, "%s", `join $x (list $x $x)`, 1), "a value has more than 1048576 bytes"},
		"text that doubles by js":        {strings.Replace(`{{ $x := "\\" }}{{ range until 60 }}{{ $x = %s }}{{ end }}`, "%s", `js $x`, 1), "a value has more than 1048576 bytes"},
		"values that double":             {strings.Replace(double, "%s", `list $x $x`, 1), "a value has more than 1048576 bytes"},
		"mappings that double":           {strings.Replace(double, "%s", `dict "a" $x "b" $x`, 1), "a value has more than 1048576 bytes"},
		"a long repetition":              {`{{ repeat 999999999 "x" }}`, "a value has more than 1048576 bytes"},
		"a deep indentation":             {`{{ indent 999999999 "x" }}`, "a value has more than 1048576 bytes"},
		"a wide number":                  {`{{ printf "%999999d" 1 }}`, "printf: the width 999999 is not supported here"},
		"a width from elsewhere":         {`{{ printf "%*d" 999999 1 }}`, "printf: the width * is not supported here"},
		"a long list":                    {`{{ until 999999999 }}`, "until 999999999 is out of bounds"},
		"something that is not finished": {`{{ if }}`, "the template cannot be rendered: line 1: missing value for if"},
		"its own word":                   {`{{ fail "no" }}`, "it says: no"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			_, err := template.Render(test.text, facts, template.Options{Strict: true})
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// TestNames holds the page about imports to the functions that there are.
func TestNames(t *testing.T) {
	page, err := os.ReadFile("../../docs/import.md")
	if err != nil {
		t.Fatal(err)
	}
	builtins := []string{"html", "js", "print", "printf", "println", "urlquery"}
	for _, name := range template.Names() {
		if !slices.Contains(builtins, name) && !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/import.md does not name the function %s", name)
		}
	}
}
