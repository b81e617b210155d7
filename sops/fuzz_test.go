// SPDX-License-Identifier: Apache-2.0

package sops_test

import (
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"minos.dev/minos/sops"
)

// fuzzKey is fixed, so that what a fuzzer found can be run again. minos:not-secret: made for this test.
const fuzzKey = "AGE-SECRET-KEY-1CXD4G8AWTA8LZ6ADQEP03C6NCXF2Y70C40G9RYY0V443CR8JLS0QAPVEY6"

func parseFuzzKey(f *testing.F) *age.X25519Identity {
	key, err := age.ParseX25519Identity(fuzzKey)
	if err != nil {
		f.Fatal(err)
	}
	return key
}

// FuzzDecrypt gives arbitrary text to all that reads text of others: it may be refused and must not panic.
func FuzzDecrypt(f *testing.F) {
	key := parseFuzzKey(f)
	for _, test := range texts {
		f.Add([]byte(test.plain))
		f.Add([]byte(encrypt(f, test.plain, test.rule, key)))
	}
	f.Add([]byte("creation_rules: [{age: x, key_groups: [{merge: [{age: [y]}]}]}]"))
	f.Fuzz(func(_ *testing.T, text []byte) {
		_ = sops.Encrypted(text)
		_, _ = sops.Recipients(text)
		_, _ = sops.Decrypt(text, key)
		if config, err := sops.ParseConfig(text); err == nil {
			_, _ = config.For("a/b.yaml")
		}
	})
}

// FuzzRoundTrip encrypts arbitrary text: what is accepted comes back with the same meaning.
func FuzzRoundTrip(f *testing.F) {
	key := parseFuzzKey(f)
	rules := []sops.Rule{{}, {EncryptedRegex: "^[a-m]"}, {UnencryptedRegex: "a", MACOnlyEncrypted: true}, {EncryptedSuffix: "x", Indent: 2}}
	for _, test := range texts {
		for i := range rules {
			f.Add([]byte(test.plain), uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, which uint8) {
		rule := rules[int(which)%len(rules)]
		rule.Recipients = []string{key.Recipient().String()}
		encrypted, err := sops.Encrypt(text, rule, &endless{}, moment)
		if err != nil {
			if strings.Contains(err.Error(), "read back") || strings.Contains(err.Error(), "come back") {
				t.Fatal(err) // it is refused, as it must be, and need not be
			}
			return
		}
		plain, err := sops.Decrypt(encrypted, key)
		if err != nil {
			t.Fatalf("%v\n%s", err, encrypted)
		}
		want, got := meaning(t, string(text)), meaning(t, string(plain))
		if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
