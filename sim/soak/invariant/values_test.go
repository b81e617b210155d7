// SPDX-License-Identifier: Apache-2.0

package invariant_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"minos.dev/minos/sim/soak/invariant"
)

// TestLearn finds what is secret, and nothing else.
func TestLearn(t *testing.T) {
	begin, end := "-----BEGIN EC PRIVATE "+"KEY-----\n", "\n-----END EC PRIVATE "+"KEY-----\n"
	body := strings.Repeat("Zm9vYmFy", 8)
	encoded := base64.StdEncoding.EncodeToString([]byte(begin + body + end))
	known := invariant.Known{}
	known.Learn("shop", "secrets.yaml", []byte("cluster: {id: public-identity-of-shop, secret: secret-of-the-cluster}\ncerts: {os: {crt: public-certificate, key: "+encoded+"}}\n"))
	known.Learn("shop", "value", []byte("machine: {token: abcdef.0123456789abcdef}\n---\nkind: Other\nlist: [{password: correct horse}]\n"))
	known.Learn("burst-join", "bootstrap-token", []byte("fedcba.fedcba9876543210"))
	for _, text := range []string{
		"secret-of-the-cluster", body, encoded, "abcdef.0123456789abcdef", "0123456789abcdef", "correct horse",
		"fedcba9876543210", base64.StdEncoding.EncodeToString([]byte("fedcba.fedcba9876543210")),
	} {
		if found := invariant.Leaks("a log", "something "+text+" more", known); len(found) == 0 {
			t.Errorf("%q is not known to be secret", text)
		}
	}
	for _, text := range []string{"public-identity-of-shop", "public-certificate", "abcdef", "kind: Other"} {
		if found := invariant.Leaks("a log", "something "+text+" more", known); len(found) > 0 {
			t.Errorf("%q is said to be secret: %v", text, found)
		}
	}
}
