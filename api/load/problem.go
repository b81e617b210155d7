// SPDX-License-Identifier: Apache-2.0

package load

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// A Problem is one thing that is wrong in a file, in one line: where, what, and what to do.
type Problem struct {
	// File is the name of the file, as it was given.
	File string `json:"file"`
	// Line is the line in the file, counted from 1.
	Line int `json:"line"`
	// Path is the field, for example spec.machine; empty where the text itself is broken.
	Path string `json:"path,omitempty"`
	// Text says what is wrong and what to do about it.
	Text string `json:"text"`
}

// String is the problem as a line that editors and terminals can jump to.
func (p Problem) String() string {
	if p.Path == "" {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
	}
	return fmt.Sprintf("%s:%d: %s: %s", p.File, p.Line, p.Path, p.Text)
}

// problems turns the definitions' verdicts into problems of a document.
func (d *Document) problems(verdicts field.ErrorList) []Problem {
	var problems []Problem
	for _, verdict := range verdicts {
		path := strings.TrimPrefix(verdict.Field, "<nil>")
		problems = append(problems, d.Problem(path, describe(verdict)))
	}
	return problems
}

// describe says what a verdict says, without repeating the path.
func describe(verdict *field.Error) string {
	detail := strings.TrimPrefix(verdict.Detail, verdict.Field+" in body ")
	switch verdict.Type {
	case field.ErrorTypeRequired:
		return cmp.Or(detail, "must be set")
	case field.ErrorTypeDuplicate:
		return fmt.Sprintf("%s stands here twice: remove one", repeated(verdict.BadValue))
	case field.ErrorTypeTypeInvalid:
		// The library ends with the type that it found, in quotes.
		return strings.NewReplacer(`: "`, ", not a ", `"`, "").Replace(detail)
	}
	if value := shown(verdict.BadValue); value != "" {
		return value + ": " + cmp.Or(detail, "is not allowed")
	}
	return cmp.Or(detail, verdict.Error())
}

// longest is how long a value may be to be repeated. Longer ones are certificates, scripts and the like: they would bury
// the message, and may hold what should not be shown.
const longest = 80

// shown is a value as the message repeats it, or nothing if it is better not repeated.
func shown(value any) string {
	switch value := value.(type) {
	case string:
		if len(value) <= longest && !strings.Contains(value, "\n") {
			return strconv.Quote(value)
		}
	case int64, float64, bool:
		return fmt.Sprint(value)
	}
	return ""
}

// repeated names the item of a list that is there twice. In a list of objects it is known by its key, a map of one
// entry.
func repeated(value any) string {
	if keys, ok := value.(map[string]any); ok {
		for key, inner := range keys {
			return key + " " + shown(inner)
		}
	}
	return shown(value)
}
