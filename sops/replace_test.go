// SPDX-License-Identifier: Apache-2.0

package sops_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/sops"
)

func TestReplace(t *testing.T) {
	key := identity(t)
	const before = "# note\na: 1\nb:\n    - x\n    - x\n    - 1\nc_unencrypted: 5\n"
	encrypted := encrypt(t, before, sops.Rule{}, key)
	file, err := sops.Open([]byte(encrypted), key)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, string(file.Plain())); diff != "" {
		t.Error(diff)
	}
	later, entropy := moment.Add(time.Hour), &endless{next: 99}
	same, err := file.Replace([]byte(before), entropy, later)
	if err != nil || string(same) != encrypted {
		t.Errorf("nothing changed, and yet (%v): %s", err, cmp.Diff(encrypted, string(same)))
	}
	// Twice, because the first must not use up what the second needs.
	for range 2 {
		after := strings.Replace(before, "a: 1", "a: 2", 1)
		changed, err := file.Replace([]byte(after), entropy, later)
		if err != nil {
			t.Fatal(err)
		}
		if plain, err := sops.Decrypt(changed, key); err != nil || string(plain) != after {
			t.Errorf("%v: %s", err, plain)
		}
		var lines []string
		old := strings.Split(encrypted, "\n")
		for i, line := range strings.Split(string(changed), "\n") {
			if line != old[i] {
				word, _, _ := strings.Cut(strings.TrimSpace(line), ":")
				lines = append(lines, word)
			}
		}
		if diff := cmp.Diff([]string{"a", "lastmodified", "mac"}, lines); diff != "" {
			t.Errorf("other lines changed:\n%s", diff)
		}
	}
	// A text and a number of the same bytes are not the same value.
	changed, err := file.Replace([]byte(strings.Replace(before, "a: 1", `a: "1"`, 1)), entropy, later)
	if plain, _ := sops.Decrypt(changed, key); err != nil || !strings.Contains(string(plain), `a: "1"`) {
		t.Errorf("%v: %s", err, plain)
	}
}

func TestIndent(t *testing.T) {
	key := identity(t)
	encrypted := encrypt(t, "a:\n  b:\n    c: 1\n", sops.Rule{Indent: 2}, key)
	if !strings.Contains(encrypted, "\n  b:\n    c: ENC") {
		t.Errorf("not indented by two:\n%s", encrypted)
	}
	file, err := sops.Open([]byte(encrypted), key)
	if err != nil || string(file.Plain()) != "a:\n  b:\n    c: 1\n" {
		t.Fatalf("%v: %s", err, file.Plain())
	}
	again, err := file.Replace([]byte("a:\n  b:\n    c: 2\n"), &endless{}, moment)
	if err != nil || !strings.Contains(string(again), "\n  b:\n    c: ENC") {
		t.Errorf("%v: not indented by two:\n%s", err, again)
	}
}

// TestGrows decrypts to more than may be encrypted: what could be written must be readable.
func TestGrows(t *testing.T) {
	key := identity(t)
	plain, err := sops.Decrypt([]byte(encrypt(t, "a: |\n"+strings.Repeat(" x\n", 600_000), sops.Rule{}, key)), key)
	if err != nil || len(plain) < 2<<20 {
		t.Errorf("%d bytes, %v", len(plain), err)
	}
}

// TestOddBlocks encrypts texts that the library of YAML does not read as it wrote them, encrypted or left readable.
func TestOddBlocks(t *testing.T) {
	key := identity(t)
	for _, text := range []string{
		"a: \"\\t\\n\"\n", "a: \"\\n x\"\n", "a: \"x\\r\\ny\"\n", "a: \"x\\n\\e\\0\"\n", "a: >\n e\n  C\n", "a: |+\n\n x\n\n", "? |\n a\n b\n: c\n",
		"a: \"x\\n\\u2028y\\n\"\n",
	} {
		for _, rule := range []sops.Rule{{}, {EncryptedRegex: "^nothing$"}} {
			plain, err := sops.Decrypt([]byte(encrypt(t, text, rule, key)), key)
			if err != nil {
				t.Errorf("%q: %v", text, err)
				continue
			}
			if diff := cmp.Diff(meaning(t, text), meaning(t, string(plain))); diff != "" {
				t.Errorf("%q (-want +got):\n%s", text, diff)
			}
		}
	}
}
