// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestFlags is what a command that makes no sense gets: one line that names the flag, and what is wrong with it.
func TestFlags(t *testing.T) {
	for args, want := range map[string]string{
		"":                                     "--signer-image is needed",
		"--signer-image x more":                `"more" is not a flag`,
		"--signer-image x --refused-rules EXX": `--refused-rules: there is no rule "EXX"`,
		"--signer-image x --refused-networks 10.0.0.0/99":                       `--refused-networks: "10.0.0.0/99" is not a network`,
		"--signer-image x --management-networks nonsense":                       `--management-networks: "nonsense" is not a network`,
		"--signer-image x --sim-url http://127.0.0.1:1 --sim-token-env NOWHERE": "the variable NOWHERE is not",
	} {
		words := &bytes.Buffer{}
		code := run(t.Context(), strings.Fields(args), nil, words)
		if lines := strings.Count(words.String(), "\n"); code != 2 || lines != 1 || !strings.Contains(words.String(), want) {
			t.Errorf("%q: exit %d: %s", args, code, words)
		}
	}
}

// TestRefusedRules reads rules and groups of them.
func TestRefusedRules(t *testing.T) {
	for list, want := range map[string]string{"": "", "ROL-012,NET-011": "NET-011 ROL-012", "FLT": "FLT-001 FLT-002 FLT-003 FLT-004"} {
		found, err := rules(list)
		if err != nil || strings.Join(found, " ") != want {
			t.Errorf("%q: %v, %v", list, found, err)
		}
	}
}
