// SPDX-License-Identifier: Apache-2.0

package rule

import (
	"fmt"
	"slices"

	api "minos.dev/minos/api/v1alpha1"
)

// Severity is how bad it is when a rule does not hold.
type Severity int

// The severities, the mildest first.
const (
	Info Severity = iota
	Warning
	Error
)

// severities are their names.
var severities = []string{"info", "warning", "error"}

// String is the name of a severity.
func (s Severity) String() string { return severities[s] }

// MarshalText writes a severity by its name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a severity by its name.
func (s *Severity) UnmarshalText(text []byte) error {
	at := slices.Index(severities, string(text))
	if at < 0 {
		return fmt.Errorf("%q is not a severity: one of %v", text, severities)
	}
	*s = Severity(at)
	return nil
}

// in is the severity in an environment: where it holds for production only, it is one level milder everywhere else.
func (s Severity) in(environment api.Environment, productionOnly bool) Severity {
	if productionOnly && environment != api.EnvironmentProduction {
		return max(Info, s-1)
	}
	return s
}
