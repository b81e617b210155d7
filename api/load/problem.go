// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
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

// describe says what a verdict says, without repeating the path, and with the value only where it is short and plain.
func describe(verdict *field.Error) string {
	detail := strings.TrimPrefix(verdict.Detail, verdict.Field+" in body ")
	switch verdict.Type {
	case field.ErrorTypeRequired:
		if detail == "" {
			return "must be set"
		}
		return detail
	case field.ErrorTypeDuplicate:
		return fmt.Sprintf("%v stands here twice: remove one", verdict.BadValue)
	case field.ErrorTypeTooMany:
		return strings.TrimSpace("has too many items: " + detail)
	}
	switch value := verdict.BadValue.(type) {
	case string, int64, float64, bool:
		if detail != "" {
			return fmt.Sprintf("%#v: %s", value, detail)
		}
		return fmt.Sprintf("%#v is not allowed", value)
	}
	return detail
}
