// SPDX-License-Identifier: Apache-2.0

package secret

import (
	"bytes"
)

// StandsIn says whether a value stands where a secret should and is none: nothing, a word such as changeme, or a value of the
// documentation; and whether it only says where the secret is found, which is a template's or a vault's business.
func StandsIn(value string) (placeholder, elsewhere bool) {
	text := bytes.TrimSpace([]byte(value))
	for _, prefix := range refers {
		// What was redacted, and what stands in angle brackets, leads nowhere.
		if bytes.HasPrefix(text, prefix) && !bytes.HasPrefix(text, []byte("(redacted)")) && !bytes.HasPrefix(text, []byte("<")) && !bytes.HasPrefix(text, []byte("**")) {
			return false, true
		}
	}
	if bytes.Contains(text, []byte("${")) || bytes.Contains(text, []byte("{{")) {
		return false, true
	}
	return isPlaceholder(text), false
}
