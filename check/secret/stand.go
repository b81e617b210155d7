// SPDX-License-Identifier: Apache-2.0

package secret

import (
	"bytes"
	"slices"
)

// nowhere are how values begin that refer to nothing: what was redacted, and what stands in angle brackets.
var nowhere = [][]byte{[]byte("(redacted)"), []byte("(secret)"), []byte("<"), []byte("**")}

// StandsIn says whether a value stands where a secret should and is none: nothing, a word such as changeme, or a value of the
// documentation; and whether it only says where the secret is found, which is a template's or a vault's business.
func StandsIn(value string) (placeholder, elsewhere bool) {
	text := bytes.TrimSpace([]byte(value))
	for _, prefix := range refers {
		if bytes.HasPrefix(text, prefix) && !slices.ContainsFunc(nowhere, func(begin []byte) bool { return bytes.HasPrefix(text, begin) }) {
			return false, true
		}
	}
	if bytes.Contains(text, []byte("${")) || bytes.Contains(text, []byte("{{")) {
		return false, true
	}
	return isPlaceholder(text), false
}
