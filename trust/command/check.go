// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"time"

	"minos.dev/minos/trust/policy"
	"minos.dev/minos/trust/state"
	"minos.dev/minos/trust/token"
)

// check reads everything as serve would and says what it is. What is found goes to Out, what is wrong to Err.
func check(ctx context.Context, p Process, task task) int {
	warnings := task.warnings
	store := state.NewStore(task.config.Sources, time.Now)
	code := ok
	for _, event := range store.Refresh(ctx, true) {
		if event.Err != nil {
			say(p.Err, "minos-signer: %v\n", event.Err)
			code = failure
		}
		warnings = append(warnings, event.Warnings...)
	}
	for _, line := range report(store.Current(), task) {
		say(p.Out, "%s\n", line)
	}
	if task.config.OwnNames == policy.Allow && !slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, "OWN_NAMES") }) {
		warnings = append(warnings, "--own-names allow: whoever has a token can answer in the signer's place")
	}
	for _, warning := range warnings {
		say(p.Err, "warning: %s\n", warning)
	}
	if code == ok {
		say(p.Err, "minos-signer: all of it can be used\n")
	}
	return code
}

// report describes a state, a line each, without a secret.
func report(current *state.State, task task) (lines []string) {
	add := func(what, format string, args ...any) {
		lines = append(lines, fmt.Sprintf("%-12s", what)+fmt.Sprintf(format, args...))
	}
	if identity := current.Identity; identity != nil {
		add("issuing CA", "%s", authority(identity.Authority.Certificate))
		for _, certificate := range identity.Accepted {
			add("accepted CA", "%s", authority(certificate))
		}
		leaf, maker := identity.Serving.Leaf, "from "+task.config.Sources.TLSCert
		if task.config.Sources.TLSCert == "" || len(task.config.Sources.Serving.Names)+len(task.config.Sources.Serving.Addresses) > 0 {
			maker = "made by the signer itself, and renewed"
		}
		var names []string
		for _, ip := range leaf.IPAddresses {
			names = append(names, ip.String())
		}
		add("serving", "%s; until %s, %s", strings.Join(append(slices.Clone(leaf.DNSNames), names...), ", "), day(leaf.NotAfter), maker)
	}
	if current.Tokens != nil {
		now := time.Now()
		for _, one := range current.Tokens.Set.All() {
			add("token", "%s", describe(one, now))
		}
	}
	add("certificate", "%s; names of the control plane and the signer: %s", task.config.Validity, task.config.OwnNames)
	return lines
}

// authority says which authority it is, so that it can be compared with that of a machine's configuration.
func authority(certificate *x509.Certificate) string {
	return fmt.Sprintf("%q, %s, until %s, SHA-256 %x", certificate.Subject, certificate.PublicKeyAlgorithm, day(certificate.NotAfter), sha256.Sum256(certificate.Raw))
}

// describe says all of a token but the token.
func describe(one token.Token, now time.Time) string {
	parts := []string{fmt.Sprintf("%s: pool %s, %s", one.File, one.Pool, one.Standing(now))}
	if !one.NotBefore.IsZero() {
		parts = append(parts, "from "+day(one.NotBefore))
	}
	if !one.Expires.IsZero() {
		parts = append(parts, "until "+day(one.Expires))
	}
	parts = append(parts, "networks "+texts(one.Rules.Networks), "names "+texts(one.Rules.Names))
	if one.Rules.RequireSource {
		parts = append(parts, "from its own address")
	}
	return strings.Join(parts, ", ")
}

func texts[T fmt.Stringer](values []T) string {
	if len(values) == 0 {
		return "any"
	}
	var found []string
	for _, value := range values {
		found = append(found, value.String())
	}
	return strings.Join(found, " ")
}

func day(moment time.Time) string { return moment.UTC().Format("2006-01-02 15:04") }
