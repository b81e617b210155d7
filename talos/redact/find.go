// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"regexp"
	"strings"
)

// forms is how secrets look, each with what it is called in an error. It is a net against accidents: what gives itself
// away by its form, or by the name that stands before it.
var forms = []struct {
	name string
	form *regexp.Regexp
}{
	{"a key in PEM", regexp.MustCompile(`-----BEGIN`)},
	{"a Tailscale key", regexp.MustCompile(`tskey-`)},
	{"a key of age", regexp.MustCompile(`(?i)AGE-SECRET-KEY-`)},
	{"a token of GitHub or GitLab", regexp.MustCompile(`gh[pousr]_[A-Za-z0-9]{16}|github_pat_|glpat-`)},
	{"a key of AWS", regexp.MustCompile(`\b(AKIA|ASIA)[A-Z0-9]{16}\b`)},
	{"a signed token", regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.`)},
	{"a bootstrap token", regexp.MustCompile(`(^|[=:,"\s])[a-z0-9]{6}\.[a-z0-9]{16}($|[^a-z0-9=])`)},
	{"a password in an address", regexp.MustCompile(`://[^/\s@]*:[^/\s@]+@`)},
	{"a secret, by its name", regexp.MustCompile(`(?i)(token|passw(or)?d|passphrase|secret|credentials?|(auth|api|access|private|encryption)[._-]?key)[ \t]*[=:][ \t]*\S`)},
}

// notSecret is what begins like a key in PEM and is public.
var notSecret = strings.NewReplacer("-----BEGIN CERTIFICATE-----", "", "-----BEGIN PUBLIC KEY-----", "")

// Find says what a text seems to hold that must stay secret; empty if nothing.
func Find(text string) string {
	text = notSecret.Replace(text)
	for _, secret := range forms {
		if secret.form.MatchString(text) {
			return secret.name
		}
	}
	return ""
}
