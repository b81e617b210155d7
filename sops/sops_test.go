// SPDX-License-Identifier: Apache-2.0

package sops_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"minos.dev/minos/sops"
)

var moment = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)

// endless is entropy that is the same in every run, and never the same twice within one.
type endless struct{ next byte }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		e.next++
		p[i] = e.next ^ byte(i)
	}
	return len(p), nil
}

// identity makes a key.
func identity(t testing.TB) *age.X25519Identity {
	t.Helper()
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// encrypt encrypts a text for keys.
func encrypt(t testing.TB, text string, rule sops.Rule, keys ...*age.X25519Identity) string {
	t.Helper()
	for _, key := range keys {
		rule.Recipients = append(rule.Recipients, key.Recipient().String())
	}
	encrypted, err := sops.Encrypt([]byte(text), rule, &endless{}, moment)
	if err != nil {
		t.Fatal(err)
	}
	return string(encrypted)
}

// meaning is all documents of a text as data.
func meaning(t testing.TB, text string) []any {
	t.Helper()
	var documents []any
	reader := yaml.NewDecoder(strings.NewReader(text))
	for {
		var document map[string]any
		err := reader.Decode(&document)
		if errors.Is(err, io.EOF) {
			return documents
		}
		if err != nil {
			t.Fatalf("%v in:\n%s", err, text)
		}
		if document == nil {
			document = map[string]any{}
		}
		documents = append(documents, document)
	}
}

// texts are what is encrypted and comes back the same, by what they are about.
var texts = map[string]struct {
	plain string
	rule  sops.Rule
	clear []string // what stays readable
}{
	"words":                      {plain: "a: hello\nb: 'single'\nc: \"double\"\n\"quoted key\": x\n\"1\": one\n"},
	"numbers":                    {plain: "i: 1\nn: -5\nhex: 0x1F\nf: 1.5\nwhole: 1.0\nbig: 1e100\nsmall: 1e-10\ninf: .inf\n"},
	"truth and nothing":          {plain: "yes: true\nno: false\nnothing: null\ntilde: ~\nempty: \"\"\n"},
	"words that look like more":  {plain: "a: \"true\"\nb: \"1\"\nc: \"null\"\nd: \"1.5\"\ne: \"~\"\nf: \"y\"\ng: \"2020-01-01\"\n"},
	"times":                      {plain: "a: 2020-01-02\nb: 2020-01-02T03:04:05Z\nc: 2020-01-02T03:04:05.123+02:00\n"},
	"lists in lists":             {plain: "a:\n  - 1\n  - - 2\n    - [three, {four: 5}]\n  - six: [7]\nb: []\nc: {}\nd: [[], {}]\n"},
	"unicode":                    {plain: "ключ: \"ünï ☃ \\U0001F600\"\n\"ключ два\": 日本語\n"},
	"a certificate":              {plain: "pem: |\n  -----BEGIN CERTIFICATE-----\n  MIIB\n  AAAA==\n  -----END CERTIFICATE-----\nfolded: >-\n  one\n  line\n"},
	"odd lines":                  {plain: "a: \"  leading\\n\\n trailing \\n\"\nb: \"\\ttab\\r\\ncr\"\nc: \" \"\nd: \"\\n\"\ne: \"# no comment\"\nf: \"a: b\"\n"},
	"bytes":                      {plain: "a: !!binary /wD+\n"},
	"several documents":          {plain: "a: 1\n---\nb: 2\n---\nc: [3]\n"},
	"a document without content": {plain: "a: 1\n---\n---\nc: 3\n"},
	"flow, as JSON has it":       {plain: "{\"a\": [1, \"two\", {\"b\": null}], \"c\": {}}\n"},
	"the suffix that is plain":   {plain: "a: s3cret\nb_unencrypted: seen\nc_unencrypted:\n  d: [seen too, 5]\n", clear: []string{"seen", "seen too", "5"}},
	"a suffix of one's own": {
		plain: "a: s3cret\nb_clear: seen\n", rule: sops.Rule{UnencryptedSuffix: "_clear"}, clear: []string{"seen"},
	},
	"only a suffix": {
		plain: "a: seen\nb_secret: s3cret\n", rule: sops.Rule{EncryptedSuffix: "_secret"}, clear: []string{"seen"},
	},
	"only an expression": {
		plain: "kind: Secret\nmetadata: {name: x}\ndata:\n  a: s3cret\n  b: [s3cret]\n",
		rule:  sops.Rule{EncryptedRegex: "^(data|stringData)$"}, clear: []string{"Secret", "x"},
	},
	"all but an expression": {
		plain: "kind: Seen\ndata: {a: s3cret}\n", rule: sops.Rule{UnencryptedRegex: "^kind$"}, clear: []string{"Seen"},
	},
	"a checksum of what is encrypted": {
		plain: "kind: Seen\nn: 5\ndata: {a: s3cret}\n",
		rule:  sops.Rule{EncryptedRegex: "^data$", MACOnlyEncrypted: true}, clear: []string{"Seen"},
	},
	"comments": {plain: commented},
}

const commented = `# the file

# of the first
a: 1 # beside it
# between
b:
  # of the list
  - x # beside x
  #
  - y: 2
    # deep
    z: [1, 2]
  - w
  # below the list
c:
  d:
    # of e
    e: v
    # below e
  # below d
# below c

f: # beside f
  g: 1
flow: [1, {x: 2}] # beside the flow
empty: [] # beside nothing
# the end
---
# second
h: 1
# end of second
`

func TestRoundTrip(t *testing.T) {
	key := identity(t)
	for name, test := range texts {
		t.Run(name, func(t *testing.T) {
			encrypted := encrypt(t, test.plain, test.rule, key)
			if !sops.Encrypted([]byte(encrypted)) {
				t.Errorf("is not recognised:\n%s", encrypted)
			}
			for _, clear := range test.clear {
				if !strings.Contains(encrypted, clear) {
					t.Errorf("%q is not readable in:\n%s", clear, encrypted)
				}
			}
			if strings.Contains(encrypted, "s3cret") {
				t.Errorf("a secret is readable in:\n%s", encrypted)
			}
			plain, err := sops.Decrypt([]byte(encrypted), key)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(meaning(t, test.plain), meaning(t, string(plain))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestCommentsAndOrderStay compares the text: what is in block style and indented by four comes back as it was.
func TestCommentsAndOrderStay(t *testing.T) {
	key := identity(t)
	text := strings.ReplaceAll(commented, "  ", "    ")
	text = strings.NewReplacer(
		"    - y: 2\n        # deep\n        z: [1, 2]\n", "    - y: 2\n      # deep\n      z:\n        - 1\n        - 2\n",
		"flow: [1, {x: 2}] # beside the flow\n", "# beside the flow\nflow:\n    - 1\n    - x: 2\n",
	).Replace(text)
	encrypted := encrypt(t, text, sops.Rule{}, key)
	for line := range strings.Lines(encrypted) {
		if _, comment, found := strings.Cut(line, "#"); found && comment != "\n" && !strings.HasPrefix(comment, "ENC[") {
			t.Errorf("a comment is readable: %s", line)
		}
	}
	plain, err := sops.Decrypt([]byte(encrypted), key)
	if err != nil {
		t.Fatal(err)
	}
	withoutBlank := func(s string) string { return strings.ReplaceAll(s, "\n\n", "\n") }
	if diff := cmp.Diff(withoutBlank(text), withoutBlank(string(plain))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestEntropyIsUsed expects the same from the same entropy, and no nonce twice.
func TestEntropyIsUsed(t *testing.T) {
	key := identity(t)
	encrypted := encrypt(t, "a: [x, x, x]\nb: x\n", sops.Rule{}, key)
	again := encrypt(t, "a: [x, x, x]\nb: x\n", sops.Rule{}, key)
	first, _, _ := strings.Cut(encrypted, "sops:")
	second, _, _ := strings.Cut(again, "sops:")
	if first != second {
		t.Error("the same entropy gave another file")
	}
	seen := map[string]bool{}
	for line := range strings.Lines(encrypted) {
		_, rest, found := strings.Cut(line, "iv:")
		nonce, _, _ := strings.Cut(rest, ",")
		if found && seen[nonce] {
			t.Errorf("the nonce %s is there twice", nonce)
		}
		seen[nonce] = true
	}
	if len(seen) != 6 { // four values, the checksum, and lines without any
		t.Errorf("%d nonces in:\n%s", len(seen)-1, encrypted)
	}
	short := bytes.NewReader(make([]byte, 40))
	rule := sops.Rule{Recipients: []string{key.Recipient().String()}}
	if _, err := sops.Encrypt([]byte("a: 1\n"), rule, short, moment); err == nil {
		t.Error("entropy that ends is not noticed")
	}
}

func TestSeveralRecipients(t *testing.T) {
	first, second, stranger := identity(t), identity(t), identity(t)
	encrypted := []byte(encrypt(t, "a: 1\n", sops.Rule{}, first, second, first))
	recipients, err := sops.Recipients(encrypted)
	want := []string{first.Recipient().String(), second.Recipient().String()}
	if diff := cmp.Diff(want, recipients); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	for _, key := range []*age.X25519Identity{first, second} {
		if _, err := sops.Decrypt(encrypted, stranger, key); err != nil {
			t.Error(err)
		}
	}
	for _, keys := range [][]age.Identity{nil, {stranger}} {
		_, err := sops.Decrypt(encrypted, keys...)
		missing, ok := errors.AsType[*sops.NoKeyError](err)
		if !ok {
			t.Fatalf("got %v", err)
		}
		if diff := cmp.Diff(want, missing.Recipients); diff != "" {
			t.Error(diff)
		}
	}
}

// TestPostQuantumKeys uses age's other kind of key.
func TestPostQuantumKeys(t *testing.T) {
	key, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	rule := sops.Rule{Recipients: []string{key.Recipient().String()}}
	encrypted, err := sops.Encrypt([]byte("a: 1\n"), rule, &endless{}, moment)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := sops.Decrypt(encrypted, key); err != nil || string(plain) != "a: 1\n" {
		t.Errorf("%q %v", plain, err)
	}
}
