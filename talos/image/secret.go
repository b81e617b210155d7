// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/siderolabs/image-factory/pkg/schematic"
)

// secrets is how secrets look, each with what it is called in an error. It is a net against accidents: what gives itself
// away by its form, or by the name that stands before it.
var secrets = []struct {
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

// secretIn says what a text seems to hold that must stay secret; empty if nothing.
func secretIn(text string) string {
	text = notSecret.Replace(text)
	for _, secret := range secrets {
		if secret.form.MatchString(text) {
			return secret.name
		}
	}
	return ""
}

// refuseSecrets refuses a schematic with a secret in it. The value stays out of the error, which ends up in logs.
func refuseSecrets(role string, part *schematic.Customization) error {
	for _, argument := range part.ExtraKernelArgs {
		name, _, _ := strings.Cut(argument, "=")
		if secretIn(name) != "" { // no name at all: the secret itself
			name = "…"
		}
		if secret := secretIn(argument); secret != "" {
			return secretError(role, fmt.Sprintf("kernel argument %q", name), secret)
		}
	}
	for _, meta := range part.Meta {
		if secret := secretIn(meta.Value); secret != "" {
			return secretError(role, fmt.Sprintf("META value %d", meta.Key), secret)
		}
	}
	if secret := secretIn(part.EmbeddedMachineConfiguration); secret != "" {
		return secretError(role, "the embedded machine configuration", secret)
	}
	return nil
}

// secretError names the place and the way out, and not the secret.
func secretError(role, place, secret string) error {
	return fmt.Errorf("role %q: %s seems to hold %s: an image and its schematic are public, so give it by the machine configuration", role, place, secret)
}
