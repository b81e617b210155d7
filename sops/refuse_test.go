// SPDX-License-Identifier: Apache-2.0

package sops_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"minos.dev/minos/sops"
)

func TestEncryptRefuses(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"nothing":                 {"", "there is nothing in it to encrypt"},
		"a list":                  {"- a\n", "line 1: a document must be a mapping"},
		"a word":                  {"a\n", "line 1: a document must be a mapping"},
		"no YAML":                 {"a: [\n", "yaml: line 1: did not find expected node content"},
		"an alias":                {"a: &x 1\nb: *x\n", "line 1: anchors and aliases are not kept: write the value out"},
		"a merge":                 {"a:\n  <<: {b: 1}\n", "line 2: a key must be a word: quote it"},
		"a tag":                   {"a: !vault x\n", "line 1: the tag !vault is not kept: write the value without it"},
		"a tag of a mapping":      {"a: !Ref\n  b: 1\n", "line 1: the tag !Ref is not kept: write the value without it"},
		"a key that is a number":  {"1: a\n", "line 1: a key must be a word: quote it"},
		"a key that is a mapping": {"? {a: 1}\n: b\n", "line 1: a key must be a word: quote it"},
		"a key twice":             {"a: 1\nb:\n  c: 1\n  c: 2\n", `line 4: the key "c" is there twice`},
		"a key twice, later":      {"a: 1\n---\nb: 1\nb: 2\n", `line 4: the key "b" is there twice`},
		"a number that is huge":   {"a: 18446744073709551615\n", "line 1: a number that is too large for SOPS: quote it"},
		"a key of SOPS":           {"a: 1\nsops: {enabled: true}\n", `line 2: the key "sops" is where SOPS has its metadata: rename it`},
		"too deep":                {strings.Repeat("{a: ", 200) + strings.Repeat("}", 200), "line 1: more than 100 levels deep"},
		"too large":               {"a: " + strings.Repeat("x", 5<<20), "has 5 MiB, and may have 2"},
		"many small values":       {"a: [" + strings.Repeat("1,", 100000) + "]", "encrypted it would have more than 2 MiB, and nobody could read it"},
		"many documents":          {strings.Repeat("---\n", 2000), "has more than 1000 documents"},
		"an alias to itself":      {"a: &x [*x]\n", "line 1: anchors and aliases are not kept: write the value out"},
	}
	rule := sops.Rule{Recipients: []string{identity(t).Recipient().String()}}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := sops.Encrypt([]byte(test.text), rule, &endless{}, moment)
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestEncryptRefusesRules(t *testing.T) {
	key := identity(t)
	tests := map[string]struct {
		rule sops.Rule
		want string
	}{
		"nobody":        {sops.Rule{}, "nobody to encrypt for: a rule needs an age recipient"},
		"a secret key":  {sops.Rule{Recipients: []string{key.String()}}, "a secret key is no recipient: give the public one, which starts with age1"},
		"half a key":    {sops.Rule{Recipients: []string{"age1abc"}}, "an age recipient must start with age1 and be whole"},
		"a key of SSH":  {sops.Rule{Recipients: []string{"ssh-ed25519 AAAA"}}, "the SSH recipient ssh-ed25519 AAAA is not supported here: use the program sops for it"},
		"two ways":      {sops.Rule{Recipients: []string{key.Recipient().String()}, EncryptedRegex: "a", UnencryptedSuffix: "b"}, "only one of encrypted_regex, unencrypted_regex, encrypted_suffix and unencrypted_suffix can be set"},
		"no expression": {sops.Rule{Recipients: []string{key.Recipient().String()}, EncryptedRegex: "("}, "the rule's expression: error parsing regexp: missing closing ): `(`"},
		"a crowd":       {sops.Rule{Recipients: make([]string, 300)}, "300 recipients, and there may be 256"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := sops.Encrypt([]byte("a: 1\n"), test.rule, &endless{}, moment)
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), key.String()) {
				t.Error("the error shows the secret key")
			}
		})
	}
}

func TestEncryptTwice(t *testing.T) {
	key := identity(t)
	encrypted := encrypt(t, "a: 1\n---\nb: 2\n", sops.Rule{}, key)
	rule := sops.Rule{Recipients: []string{key.Recipient().String()}}
	if _, err := sops.Encrypt([]byte(encrypted), rule, &endless{}, moment); !errors.Is(err, sops.ErrEncrypted) {
		t.Errorf("got %v", err)
	}
	if _, err := sops.Decrypt([]byte("a: 1\n"), key); !errors.Is(err, sops.ErrNotEncrypted) {
		t.Errorf("got %v", err)
	}
	if _, err := sops.Recipients([]byte("a: 1\n")); !errors.Is(err, sops.ErrNotEncrypted) {
		t.Errorf("got %v", err)
	}
}

func TestEncrypted(t *testing.T) {
	tests := map[string]struct {
		text string
		want bool
	}{
		"a plain file":                  {"a: 1\n", false},
		"nothing":                       {"", false},
		"nonsense":                      {"sops: [", false},
		"a setting that has the name":   {"sops: {enabled: true}\n", false},
		"the word as a value":           {"a: sops\n", false},
		"metadata":                      {"a: 1\nsops: {mac: x, lastmodified: y}\n", true},
		"metadata without a checksum":   {"a: 1\nsops: {lastmodified: y}\n", true},
		"metadata in JSON":              {`{"a": 1, "sops": {"mac": "x"}}`, true},
		"beside what SOPS cannot write": {"a: &x 1\nb: *x\nsops: {mac: x}\n", true},
		"deeper down":                   {"a: {sops: {mac: x}}\n", false},
		"a list":                        {"- sops: {mac: x}\n", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := sops.Encrypted([]byte(test.text)); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

// TestUnsupported names what is not here instead of guessing.
func TestUnsupported(t *testing.T) {
	const end = "\n    lastmodified: \"2026-01-01T00:00:00Z\"\n    mac: x\n    version: 3.13.3\n"
	tests := map[string]struct{ metadata, want string }{
		"only PGP":   {"pgp: [{fp: x, enc: y}]", "a file that is encrypted by pgp and not by age is not supported here: use the program sops for it"},
		"only a KMS": {"kms: [{arn: x}]\n    pgp: []\n    age: []", "a file that is encrypted by kms and not by age is not supported here: use the program sops for it"},
		"only Vault": {"hc_vault: [{key_name: x}]", "a file that is encrypted by hc_vault and not by age is not supported here: use the program sops for it"},
		"key groups": {"key_groups: [{age: [{recipient: x}]}, {age: []}]\n    shamir_threshold: 2", "a data key that is split between key groups is not supported here: use the program sops for it"},
		"no keys":    {"age: []", "the SOPS metadata name no keys"},
		"comments that choose": {
			"age: [{recipient: x, enc: y}]\n    encrypted_comment_regex: x",
			"encrypted_comment_regex is not supported here: use the program sops for it",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			text := []byte("a: ENC[x]\nsops:\n    " + test.metadata + end)
			if !sops.Encrypted(text) {
				t.Error("is not recognised")
			}
			_, err := sops.Decrypt(text, identity(t))
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// TestTampering changes every part of a file, one at a time, and expects each to be noticed.
func TestTampering(t *testing.T) {
	key := identity(t)
	const plain = "a: one\nb: [two, three]\nn: 5\nclear_unencrypted: seen\nnumber_unencrypted: 7\n"
	text := encrypt(t, plain, sops.Rule{}, key)
	line := func(start string) string {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(strings.TrimSpace(line), start) {
				return line
			}
		}
		t.Fatalf("no line %q in:\n%s", start, text)
		return ""
	}
	lines := strings.SplitAfter(text, "\n")
	tests := map[string]struct{ old, with, want string }{
		"a value is gone":           {line("a:"), "", "changed since it was encrypted: its values do not fit their checksum"},
		"a value is empty":          {line("a:"), "a: \"\"\n", "changed since it was encrypted: its values do not fit their checksum"},
		"a value is null":           {line("a:"), "a: null\n", "changed since it was encrypted: its values do not fit their checksum"},
		"a value in clear":          {line("a:"), "a: other\n", "changed since it was encrypted: a: is not encrypted, and should be"},
		"a number in clear":         {line("a:"), "a: 1\n", "changed since it was encrypted: a: is not encrypted, and should be"},
		"a value of another key":    {line("a:"), "a" + line("n:")[1:], "changed since it was encrypted: a: does not fit its key or its place"},
		"a renamed key":             {line("a:"), "z" + line("a:")[1:], "changed since it was encrypted: z: does not fit its key or its place"},
		"another order":             {lines[2] + lines[3], lines[3] + lines[2], "changed since it was encrypted: its values do not fit their checksum"},
		"a value twice":             {lines[2], lines[2] + lines[2], "changed since it was encrypted: its values do not fit their checksum"},
		"a plain value":             {"seen", "other", "changed since it was encrypted: its values do not fit their checksum"},
		"one more plain value":      {"clear_unencrypted: seen\n", "clear_unencrypted: seen\nmore_unencrypted: 1\n", "changed since it was encrypted: its values do not fit their checksum"},
		"a plain number":            {"_unencrypted: 7", "_unencrypted: 8", "changed since it was encrypted: its values do not fit their checksum"},
		"another kind":              {"type:int]", "type:str]", ""},
		"an unknown kind":           {"type:int]", "type:tree]", "changed since it was encrypted: n: is not of the kind tree"},
		"a kind that does not fit":  {line("a:"), strings.Replace(line("a:"), "type:str", "type:int", 1), "changed since it was encrypted: a: is not of the kind int"},
		"a comment as a value":      {line("a:"), strings.Replace(line("a:"), "type:str", "type:comment", 1), "changed since it was encrypted: a: is a comment where a value belongs"},
		"no tag":                    {line("a:"), strings.Replace(line("a:"), ",tag:", ",gat:", 1), "changed since it was encrypted: a: is encrypted in a form that is not known"},
		"no checksum":               {line("mac:"), "", "changed since it was encrypted: its checksum cannot be read"},
		"an empty checksum":         {line("mac:"), "    mac: \"\"\n", "changed since it was encrypted: its checksum cannot be read"},
		"another time":              {"2026-02-03T04:05:06Z", "2026-02-03T04:05:07Z", "changed since it was encrypted: its checksum cannot be read"},
		"no time":                   {line("lastmodified:"), "", `changed since it was encrypted: lastmodified is "" and no time`},
		"another suffix":            {"suffix: _unencrypted", "suffix: a", "changed since it was encrypted: clear_unencrypted: is not encrypted, and should be"},
		"another way to choose":     {"unencrypted_suffix: _unencrypted", "encrypted_regex: ^x$", "changed since it was encrypted: its values do not fit their checksum"},
		"the other checksum":        {line("mac:"), line("mac:") + "    mac_only_encrypted: true\n", "changed since it was encrypted: its values do not fit their checksum"},
		"two ways to choose":        {line("mac:"), line("mac:") + "    encrypted_regex: x\n", "the SOPS metadata: only one of "},
		"the data key":              {line("YWdl"), strings.Replace(line("YWdl"), "YWdl", "YWdm", 1), "changed since it was encrypted: the data key for " + key.Recipient().String() + " is broken"},
		"no data key":               {line("- enc:"), "        - x: |\n", "changed since it was encrypted: the data key for " + key.Recipient().String() + " is broken"},
		"metadata that are a word":  {text[strings.Index(text, "sops:"):], "sops: x\n", "line 8: the SOPS metadata are not a mapping"},
		"metadata of another shape": {line("mac:"), "    mac: [x]\n", "the SOPS metadata: "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			changed := strings.Replace(text, test.old, test.with, 1)
			if changed == text {
				t.Fatalf("the test changes nothing: there is no %q in\n%s", test.old, text)
			}
			got, err := sops.Decrypt([]byte(changed), key)
			if test.want == "" {
				// The kind is not bound to the value, in SOPS neither: the bytes of the value are the same.
				if err != nil || !strings.Contains(string(got), `"5"`) {
					t.Errorf("%v: %s", err, got)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
			if got != nil {
				t.Errorf("got %s", got)
			}
		})
	}
}

// TestEveryByte flips each byte of each encrypted value.
func TestEveryByte(t *testing.T) {
	key := identity(t)
	text := encrypt(t, "a: one\nb: [two]\n", sops.Rule{}, key)
	for _, part := range []string{"data:", ",iv:", ",tag:"} {
		for i, piece := range strings.Split(text, part) {
			encoded, _, found := strings.Cut(piece, ",")
			if part == "data:" {
				encoded, _, found = strings.Cut(piece, ",iv")
			}
			bytes, err := base64.StdEncoding.DecodeString(encoded)
			if i == 0 || !found || err != nil {
				continue
			}
			for at := range bytes {
				bytes[at] ^= 1
				changed := strings.Replace(text, encoded, base64.StdEncoding.EncodeToString(bytes), 1)
				bytes[at] ^= 1
				if _, err := sops.Decrypt([]byte(changed), key); err == nil {
					t.Errorf("byte %d of %s%s was changed and nobody noticed", at, part, encoded)
				} else if _, ok := errors.AsType[*sops.TamperedError](err); !ok {
					t.Errorf("got %v", err)
				}
			}
		}
	}
}

// TestCrowdOfRecipients bounds the work that a file can ask for.
func TestCrowdOfRecipients(t *testing.T) {
	var b strings.Builder
	b.WriteString("a: x\nsops:\n    mac: x\n    lastmodified: x\n    age:\n")
	for i := range 300 {
		fmt.Fprintf(&b, "        - {recipient: r%d, enc: x}\n", i)
	}
	_, err := sops.Decrypt([]byte(b.String()), identity(t))
	if want := "the SOPS metadata name 300 recipients, and may name 256"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
