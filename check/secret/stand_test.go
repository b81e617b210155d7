// SPDX-License-Identifier: Apache-2.0

package secret_test

import (
	"testing"

	"minos.dev/minos/check/secret"
)

func TestStandsIn(t *testing.T) {
	for value, want := range map[string][2]bool{
		"": {true, false}, "  ": {true, false}, "changeme": {true, false}, "<token>": {true, false}, "(redacted)": {true, false}, "(secret)": {true, false}, "******": {true, false},
		"abcdef.0123456789abcdef": {true, false}, // of the documentation
		"${TOKEN}":                {false, true}, "op://vault/talos/token": {false, true}, "ENC[AES256_GCM,data:x,iv:x,tag:x,type:str]": {false, true}, "a {{ token }}": {false, true},
		"q7r5yz.u83kx1p0d6m2n4bv": {false, false},
	} {
		if placeholder, elsewhere := secret.StandsIn(value); placeholder != want[0] || elsewhere != want[1] {
			t.Errorf("%q: placeholder %v, elsewhere %v", value, placeholder, elsewhere)
		}
	}
}
