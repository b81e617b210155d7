// SPDX-License-Identifier: Apache-2.0

// Package redact keeps secrets out of what is shown: by the path at which a value stands, by the form that gives a secret
// away, and by the value itself, wherever it stands.
package redact

import (
	"encoding/base64"
	"regexp"
	"strings"
)

// Mark stands in place of a secret.
const Mark = "(redacted)"

// shortest is how long a value must be to be looked for inside others. Shorter ones would redact half of everything.
const shortest = 8

// names are the last steps of paths at which secrets stand, in Talos's documents and in those of services.
var names = regexp.MustCompile(`(?i)^(key|keys|auth)$|secret|token|passw(or)?d|passphrase|private_?key|preshared_?key|credential`)

// variable is the name of an environment variable, before its value. Base64 may look the same, so it counts in lists of
// variables only.
var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// A Redactor hides secrets. Its zero value knows those that give themselves away.
type Redactor struct {
	known []string
}

// Learn makes values known as secret, wherever they stand from now on.
func (r *Redactor) Learn(values ...string) {
	for _, value := range values {
		if len(value) >= shortest {
			r.known = append(r.known, value)
		}
	}
}

// IsSecret says whether what stands at a path is a secret by the name of the path.
func IsSecret(path []string) bool {
	return names.MatchString(nameOf(path))
}

// nameOf is the last step of a path that is not an index: the list has the name.
func nameOf(path []string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if !strings.HasPrefix(path[i], "[") {
			return path[i]
		}
	}
	return ""
}

// Text returns what may be shown of a value, and whether anything of it was hidden. Of a variable the name remains.
func (r *Redactor) Text(path []string, value string) (string, bool) {
	if value == "" || !IsSecret(path) && !r.hides(value) {
		return value, false
	}
	if name := nameOf(path); name == "environment" || name == "env" {
		return variable.FindString(value) + Mark, true
	}
	return Mark, true
}

// hides says whether a value is or holds a secret, also behind base64.
func (r *Redactor) hides(value string) bool {
	if Find(value) != "" || r.holdsKnown(value) {
		return true
	}
	decoded, err := base64.StdEncoding.DecodeString(value)
	return err == nil && len(decoded) >= shortest && (Find(string(decoded)) != "" || r.holdsKnown(string(decoded)))
}

func (r *Redactor) holdsKnown(value string) bool {
	for _, known := range r.known {
		if strings.Contains(value, known) {
			return true
		}
	}
	return false
}
