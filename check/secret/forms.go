// SPDX-License-Identifier: Apache-2.0

package secret

import (
	"bytes"
	"fmt"
)

// forms is a set of forms, a bit each.
type forms uint32

// allForms is every form.
const allForms = ^forms(0)

// A form is how a kind of secret looks, wherever it stands.
type form struct {
	begins []byte
	kind   string
	least  int // how many characters follow, at least
}

// known are the forms that give themselves away by how they begin.
var known = []form{
	{[]byte("PRIVATE KEY-----"), "", 0}, // see pem.go
	{[]byte("PRIVATE KEY BLOCK-----"), "", 0},
	{[]byte("AGE-SECRET-KEY-1"), "a private key of age", 40},
	{[]byte("AGE-SECRET-KEY-PQ-1"), "a private key of age", 40},
	{[]byte("tskey-"), "a key of Tailscale", 12},
	{[]byte("ghp_"), "a token of GitHub", 30},
	{[]byte("gho_"), "a token of GitHub", 30},
	{[]byte("ghs_"), "a token of GitHub", 30},
	{[]byte("github_pat_"), "a token of GitHub", 30},
	{[]byte("glpat-"), "a token of GitLab", 16},
	{[]byte("dckr_pat_"), "a token of Docker", 16},
	{[]byte("dop_v1_"), "a token of DigitalOcean", 40},
	{[]byte("hvs."), "a token of Vault", 20},
	{[]byte("eyJhbGciOi"), "a signed token", 60},
	{[]byte("eyJhIjoi"), "a token of a Cloudflare tunnel", 80},
	{[]byte("jointoken="), "a token by which machines join a management service", 8},
}

// hints are what forms have in common, so that few looks at a text exclude them all.
var hints = func() map[string]forms {
	found := map[string]forms{}
	for at, form := range known {
		for _, hint := range []string{"PRIVATE KEY", "SECRET-KEY-", "tskey-", "gh", "glpat-", "_pat_", "dop_v1_", "hvs.", "eyJ", "jointoken="} {
			if bytes.Contains(form.begins, []byte(hint)) {
				found[hint] |= 1 << at
				break
			}
		}
	}
	return found
}()

// formsIn are the forms that a text can hold.
func formsIn(text []byte) forms {
	var found forms
	for hint, all := range hints {
		if !bytes.Contains(text, []byte(hint)) {
			continue
		}
		for at, form := range known {
			if all&(1<<at) != 0 && bytes.Contains(text, form.begins) {
				found |= 1 << at
			}
		}
	}
	return found
}

// lookFor finds forms anywhere in a line.
func (s *Scanner) lookFor(line []byte) {
	if s.forms == 0 {
		return
	}
	if s.forms&3 != 0 {
		s.keyBegins(line)
	}
	for at, form := range known {
		if s.forms&(1<<at) != 0 && form.kind != "" {
			s.lookForOne(line, form)
		}
	}
}

// lookForOne finds one form anywhere in a line.
func (s *Scanner) lookForOne(line []byte, form form) {
	for rest := line; ; {
		start := bytes.Index(rest, form.begins)
		if start < 0 {
			return
		}
		value, whole := token(rest[start:]), start == 0 || !isWord[rest[start-1]]
		if whole && len(value)-len(form.begins) >= form.least && !isPlaceholder(value) {
			s.tell(hit{kind: form.kind, evidence: fmt.Sprintf("it begins with %s and has %d characters", form.begins, len(value)), steps: s.steps(), value: value})
		}
		rest = rest[start+len(form.begins):]
	}
}

// isWord are the characters of words.
var isWord = func() (table [256]bool) {
	for _, char := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") {
		table[char] = true
	}
	return table
}()

// token is what a text begins with, up to the first character that is in no token.
func token(text []byte) []byte {
	end := 0
	for end < len(text) && (isBare[text[end]] || isBase64[text[end]] || text[end] == '.') {
		end++
	}
	return text[:end]
}
