// SPDX-License-Identifier: Apache-2.0

package sops_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/sops"
)

// A peer is the real program, with one key.
type peer struct {
	path string
	key  *age.X25519Identity
	dir  string
}

// newPeer finds the program. That it is missing is a failure: a test that is passed over proves nothing.
func newPeer(t *testing.T) *peer {
	t.Helper()
	path, err := filepath.Abs("../bin/peers/sops")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: run make peers", err)
	}
	return &peer{path: path, key: identity(t), dir: t.TempDir()}
}

// run gives the program a file and returns what it prints.
func (p *peer) run(t *testing.T, name, text string, args ...string) string {
	t.Helper()
	file := filepath.Join(p.dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), p.path, append(args, file)...)
	cmd.Dir, cmd.Env = p.dir, []string{"SOPS_AGE_KEY=" + p.key.String(), "HOME=" + p.dir}
	var out, words bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &words
	if err := cmd.Run(); err != nil {
		t.Fatalf("sops %v: %v\n%s\n%s", args, err, words.String(), text)
	}
	return out.String()
}

// flags are the program's flags for a rule.
func (p *peer) flags(rule sops.Rule) []string {
	flags := []string{"--encrypt", "--age", p.key.Recipient().String()}
	for flag, value := range map[string]string{
		"--encrypted-regex": rule.EncryptedRegex, "--unencrypted-regex": rule.UnencryptedRegex,
		"--encrypted-suffix": rule.EncryptedSuffix, "--unencrypted-suffix": rule.UnencryptedSuffix,
	} {
		if value != "" {
			flags = append(flags, flag, value)
		}
	}
	if rule.MACOnlyEncrypted {
		flags = append(flags, "--mac-only-encrypted")
	}
	return flags
}

// TestTheirsReadsOurs lets the real program decrypt what we encrypted.
func TestTheirsReadsOurs(t *testing.T) {
	theirs := newPeer(t)
	for name, test := range texts {
		t.Run(name, func(t *testing.T) {
			encrypted := encrypt(t, test.plain, test.rule, theirs.key)
			plain := theirs.run(t, "file.yaml", encrypted, "decrypt")
			if diff := cmp.Diff(loose(t, test.plain), loose(t, plain)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if strings.Contains(plain, "ENC[") {
				t.Errorf("sops did not decrypt all of it:\n%s", plain)
			}
		})
	}
}

// TestOursReadsTheirs decrypts what the real program encrypted.
func TestOursReadsTheirs(t *testing.T) {
	theirs := newPeer(t)
	for name, test := range texts {
		t.Run(name, func(t *testing.T) {
			// SOPS makes an empty text of a comment that is empty, between elements of a list.
			text := strings.ReplaceAll(test.plain, "  #\n", "")
			encrypted := theirs.run(t, "file.yaml", text, theirs.flags(test.rule)...)
			if !sops.Encrypted([]byte(encrypted)) {
				t.Error("is not recognised")
			}
			plain, err := sops.Decrypt([]byte(encrypted), theirs.key)
			if err != nil {
				t.Fatalf("%v\n%s", err, encrypted)
			}
			if diff := cmp.Diff(loose(t, text), loose(t, string(plain))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if strings.Contains(string(plain), "ENC[") {
				t.Errorf("we did not decrypt all of it:\n%s", plain)
			}
			file, err := sops.Open([]byte(encrypted), theirs.key)
			if err != nil {
				t.Fatal(err)
			}
			changed, err := file.Replace(append(plain, "\nmore: value\n"...), &endless{}, moment)
			if err != nil {
				t.Fatal(err)
			}
			if again := theirs.run(t, "changed.yaml", string(changed), "decrypt"); !strings.Contains(again, "more: value") {
				t.Errorf("sops does not see the change:\n%s", again)
			}
		})
	}
}

// TestCommentsOfTheirs expects back the comments of a file that the real program encrypted. The one below the list is read
// as one of what is deeper in it, and the last one as one of the metadata.
func TestCommentsOfTheirs(t *testing.T) {
	theirs := newPeer(t)
	const text = "# first\na:\n  # above\n  - x\n  # between\n  - y: 1\n    z: [1, [2, 3]]\n  # below the list\nb: 1 # beside\n# last\n"
	encrypted := theirs.run(t, "file.yaml", text, theirs.flags(sops.Rule{})...)
	plain, err := sops.Decrypt([]byte(encrypted), theirs.key)
	if err != nil {
		t.Fatal(err)
	}
	for _, comment := range []string{"# first", "# above", "# between", "# below the list", "# beside", "# last"} {
		if strings.Count(string(plain), comment) != 1 {
			t.Errorf("%q is missing in:\n%s\nwhich was:\n%s", comment, plain, encrypted)
		}
	}
}

// loose is the meaning of a text with 1 and 1.0 the same: SOPS writes a whole number back without its dot.
func loose(t *testing.T, text string) any {
	t.Helper()
	var whole func(value any) any
	whole = func(value any) any {
		switch value := value.(type) {
		case float64:
			if value == float64(int(value)) {
				return int(value)
			}
		case []any:
			for i := range value {
				value[i] = whole(value[i])
			}
		case map[string]any:
			for key := range value {
				value[key] = whole(value[key])
			}
		}
		return value
	}
	return whole(meaning(t, text))
}

// TestOursReadsTheirJSON decrypts what the real program made of JSON.
func TestOursReadsTheirJSON(t *testing.T) {
	theirs := newPeer(t)
	const text = `{"a": "x", "n": 5, "f": 1.5, "t": true, "nothing": null, "list": [1, {"b": "ü\n"}], "c_unencrypted": 7}`
	encrypted := theirs.run(t, "file.json", text, theirs.flags(sops.Rule{})...)
	plain, err := sops.Decrypt([]byte(encrypted), theirs.key)
	if err != nil {
		t.Fatalf("%v\n%s", err, encrypted)
	}
	if diff := cmp.Diff(loose(t, text), loose(t, string(plain))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTheirsNoticesWhatOursNotices changes a file that we wrote: the checksum must mean the same to both.
func TestTheirsNoticesWhatOursNotices(t *testing.T) {
	theirs := newPeer(t)
	encrypted := encrypt(t, "a: [x, y]\nb_unencrypted: 1\n", sops.Rule{}, theirs.key)
	changed := strings.Replace(encrypted, "b_unencrypted: 1", "b_unencrypted: 2", 1)
	if _, err := sops.Decrypt([]byte(changed), theirs.key); err == nil {
		t.Error("we do not notice")
	}
	file := filepath.Join(theirs.dir, "file.yaml")
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), theirs.path, "decrypt", file)
	cmd.Env = []string{"SOPS_AGE_KEY=" + theirs.key.String(), "HOME=" + theirs.dir}
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "MAC mismatch") {
		t.Errorf("sops says %v: %s", err, out)
	}
}

// TestSameRule asks the real program which rule of a configuration is for a file: by the recipient that it encrypts for.
func TestSameRule(t *testing.T) {
	theirs := newPeer(t)
	first, second := identity(t).Recipient().String(), theirs.key.Recipient().String()
	config := "creation_rules:\n" +
		"  - path_regex: ^deep/.*\\.secrets\\.yaml$\n    age: " + first + "\n    encrypted_regex: ^data$\n" +
		"  - age: [" + second + ", " + first + "]\n"
	if err := os.WriteFile(filepath.Join(theirs.dir, ".sops.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(theirs.dir, "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	read, err := sops.ParseConfig([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"deep/a.secrets.yaml", "deep/a.yaml", "b.secrets.yaml"} {
		t.Run(path, func(t *testing.T) {
			rule, err := read.For(path)
			if err != nil {
				t.Fatal(err)
			}
			encrypted := theirs.run(t, path, "data: x\nother: seen\n", "encrypt")
			recipients, err := sops.Recipients([]byte(encrypted))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(recipients, rule.Recipients); diff != "" {
				t.Errorf("(-theirs +ours):\n%s", diff)
			}
			if ours := rule.EncryptedRegex != ""; ours != strings.Contains(encrypted, "other: seen") {
				t.Errorf("another rule for values: %+v", rule)
			}
		})
	}
}
