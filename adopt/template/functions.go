// SPDX-License-Identifier: Apache-2.0

package template

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"
)

// longest is how long a list or a text may get that a function makes from a number.
const longest = 10_000

// functions are those of sprig that are supported: names and the order of arguments are sprig's, so that templates work as
// they are.
func functions(options Options) template.FuncMap {
	all := template.FuncMap{
		"env": func(name string) (string, error) {
			value, ok := options.Env[name]
			if !ok {
				return "", fmt.Errorf("the variable %s was not given", name)
			}
			return value, nil
		},
	}
	for _, some := range []template.FuncMap{texts, choices, numbers, collections, formats, builtins} {
		maps.Copy(all, some)
	}
	for name, function := range all {
		all[name] = bounded(function)
	}
	return all
}

// builtins are those functions of Go's templates that make texts, so that these are bounded too.
var builtins = template.FuncMap{
	"print":    fmt.Sprint,
	"println":  fmt.Sprintln,
	"printf":   printf,
	"html":     template.HTMLEscaper,
	"js":       template.JSEscaper,
	"urlquery": template.URLQueryEscaper,
}

// texts change texts. The text comes last, for pipes.
var texts = template.FuncMap{
	"upper":           strings.ToUpper,
	"lower":           strings.ToLower,
	"trim":            strings.TrimSpace,
	"trimAll":         func(cut, text string) string { return strings.Trim(text, cut) },
	"trimPrefix":      func(cut, text string) string { return strings.TrimPrefix(text, cut) },
	"trimSuffix":      func(cut, text string) string { return strings.TrimSuffix(text, cut) },
	"contains":        func(part, text string) bool { return strings.Contains(text, part) },
	"hasPrefix":       func(part, text string) bool { return strings.HasPrefix(text, part) },
	"hasSuffix":       func(part, text string) bool { return strings.HasSuffix(text, part) },
	"replace":         replace,
	"repeat":          repeat,
	"trunc":           trunc,
	"quote":           func(values ...any) string { return joined(values, strconv.Quote) },
	"squote":          func(values ...any) string { return joined(values, func(s string) string { return "'" + s + "'" }) },
	"indent":          indent,
	"nindent":         func(n int, text string) (string, error) { s, err := indent(n, text); return "\n" + s, err },
	"splitList":       func(by, text string) []string { return strings.Split(text, by) },
	"join":            join,
	"toString":        word,
	"regexMatch":      func(expression, text string) (bool, error) { return regexp.MatchString(expression, text) },
	"regexReplaceAll": regexReplaceAll,
}

// choices decide between values.
var choices = template.FuncMap{
	"default": func(fallback any, values ...any) any {
		if len(values) == 0 || isEmpty(values[0]) {
			return fallback
		}
		return values[0]
	},
	"empty":         isEmpty,
	"coalesce":      coalesce,
	"ternary":       func(yes, no any, condition bool) any { return map[bool]any{true: yes, false: no}[condition] },
	"fail":          func(text string) (string, error) { return "", fmt.Errorf("it says: %s", text) },
	"required":      func(text string, value any) (any, error) { return required(text, value) },
	"semverCompare": semverCompare,
}

// numbers calculate.
var numbers = template.FuncMap{
	"int":   func(value any) (int, error) { return number(value) },
	"int64": func(value any) (int64, error) { n, err := number(value); return int64(n), err },
	"atoi":  func(text string) (int, error) { return number(text) },
	"add":   func(values ...any) (int, error) { return folded(values, func(a, b int) int { return a + b }) },
	"sub":   func(values ...any) (int, error) { return folded(values, func(a, b int) int { return a - b }) },
	"mul":   func(values ...any) (int, error) { return folded(values, func(a, b int) int { return a * b }) },
	"add1":  func(value any) (int, error) { n, err := number(value); return n + 1, err },
	"until": until,
}

// collections make and read lists and mappings.
var collections = template.FuncMap{
	"list":   func(values ...any) []any { return values },
	"dict":   dict,
	"get":    func(fields map[string]any, key string) any { return cmpOr(fields[key], "") },
	"hasKey": func(fields map[string]any, key string) bool { _, ok := fields[key]; return ok },
	"keys":   func(fields map[string]any) []string { return slices.Sorted(maps.Keys(fields)) },
	"first":  func(list any) (any, error) { return item(list, func(int) int { return 0 }) },
	"last":   func(list any) (any, error) { return item(list, func(n int) int { return n - 1 }) },
	"has":    func(value, list any) bool { return slices.Contains(plain(list), word(value)) },
}

// formats write data.
var formats = template.FuncMap{
	"b64enc": func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) },
	"b64dec": func(text string) (string, error) {
		decoded, err := base64.StdEncoding.DecodeString(text)
		return string(decoded), err
	},
	"toJson": func(value any) (string, error) { text, err := json.Marshal(value); return string(text), err },
	"toYaml": func(value any) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	},
}

func repeat(n int, text string) (string, error) {
	if err := room(n, len(text)); err != nil {
		return "", err
	}
	return strings.Repeat(text, n), nil
}

func replace(old, with, text string) (string, error) {
	if err := room(strings.Count(text, old), len(with)); err != nil {
		return "", err
	}
	return strings.ReplaceAll(text, old, with), nil
}

func join(by string, list any) (string, error) {
	all := plain(list)
	if err := room(len(all), len(by)); err != nil {
		return "", err
	}
	return strings.Join(all, by), nil
}

func regexReplaceAll(expression, text, with string) (string, error) {
	compiled, err := regexp.Compile(expression)
	if err != nil {
		return "", err
	}
	if err := room(len(compiled.FindAllStringIndex(text, -1)), len(with)+len(text)*strings.Count(with, "$")); err != nil {
		return "", err
	}
	return compiled.ReplaceAllString(text, with), nil
}

// trunc keeps the beginning, or with a negative number the end.
func trunc(n int, text string) string {
	switch {
	case n >= 0 && n < len(text):
		return text[:n]
	case n < 0 && -n < len(text):
		return text[len(text)+n:]
	}
	return text
}

func indent(n int, text string) (string, error) {
	if err := room(n, strings.Count(text, "\n")+1); err != nil {
		return "", err
	}
	blanks := strings.Repeat(" ", n)
	return blanks + strings.ReplaceAll(text, "\n", "\n"+blanks), nil
}
