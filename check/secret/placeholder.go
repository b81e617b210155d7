// SPDX-License-Identifier: Apache-2.0

package secret

import (
	"bytes"
	"slices"
)

// stand are words that stand for a value that is given elsewhere, or for none.
var stand = [][]byte{
	[]byte("redacted"), []byte("changeme"), []byte("change-me"), []byte("change_me"), []byte("placeholder"), []byte("example"), []byte("replace"), []byte("your-"), []byte("your_"),
	[]byte("insert-"), []byte("todo"), []byte("xxxx"), []byte("****"), []byte("...."), []byte("dummy"), []byte("not-a-real"), []byte("fixme"),
}

// refers are how values begin that only say where the secret is.
var refers = [][]byte{
	[]byte("$"), []byte("<"), []byte("{{"), []byte("(("), []byte("%"), []byte("ENC["), []byte("op://"), []byte("ref+"), []byte("vault:"), []byte("secret://"), []byte("sops:"),
	[]byte("file://"), []byte("!"), []byte("*"), []byte("arn:"), []byte("(redacted)"), []byte("(secret)"), []byte("env:"), []byte("awssm"), []byte("gcpsm"),
}

// documented are values that the documentation of Talos and Kubernetes uses.
var documented = []string{
	"abcdef.0123456789abcdef", "07401b.f395accd246ae52d", "wlzjyw.bei2zfylhs2by0wd", "328hom.uqjzh6jnn2eie9oi", "z01mye6j16bspJYtTB/5SFX8j7Ph4JXxM2Xuu4vsBPM=",
}

// ordinary are words that nobody protects anything with, or that only say what would stand here.
var ordinary = []string{
	"password", "passphrase", "secret", "token", "none", "null", "true", "false", "admin", "default", "disabled", "enabled", "required", "optional", "string", "username",
}

// isPlaceholder says whether a value stands for one that is not there.
func isPlaceholder(value []byte) bool {
	for _, prefix := range refers {
		if bytes.HasPrefix(value, prefix) {
			return true
		}
	}
	lower := bytes.ToLower(value[:min(len(value), 200)])
	for _, word := range stand {
		if bytes.Contains(lower, word) && !isAllBase64(value, word) {
			return true
		}
	}
	if len(value) < 16 && slices.Contains(ordinary, string(lower)) {
		return true
	}
	return few(value) || bytes.Contains(value, []byte("${")) || bytes.Contains(value, []byte("{{")) || slices.Contains(documented, string(value))
}

// isAllBase64 says whether a short word may be in a long random value by chance, which "todo" and "xxxx" may.
func isAllBase64(value, word []byte) bool {
	return len(word) <= 5 && len(value) >= 40 && len(token(value)) == len(value) && bytes.ContainsAny(value, "0123456789") && !bytes.Contains(bytes.ToLower(value), []byte("xxxxxxxx"))
}

// few says whether a value is made of so few characters that nothing random is.
func few(value []byte) bool {
	var seen [256]bool
	count := 0
	for _, char := range value {
		if !seen[char] {
			seen[char] = true
			if count++; count > 4 {
				return false
			}
		}
	}
	return true
}
