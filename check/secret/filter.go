// SPDX-License-Identifier: Apache-2.0

package secret

import (
	"bytes"
)

// interesting says, cheaply, whether a text can hold a secret at all. Most texts do not, and are not looked at any further; what
// follows decides how long the history of a repository takes.
func interesting(text []byte) bool {
	return hasRun(text) || isManifest(text) || named(text, ':') || named(text, '=')
}

// isManifest says whether a text may have a Secret of Kubernetes in it.
func isManifest(text []byte) bool {
	return bytes.Contains(text, []byte("ind: Secret")) || bytes.Contains(text, []byte(`ind":`)) && bytes.Contains(text, []byte(`"Secret"`)) || bytes.Contains(text, []byte(`ind: "Secret"`))
}

// named says whether a key that may be a secret's has a value that may be a secret.
func named(text []byte, sign byte) bool {
	for from := 0; ; {
		at := bytes.IndexByte(text[from:], sign)
		if at < 0 {
			return false
		}
		at += from
		if from = at + 1; mayEnd(text[:at]) && mayHold(text[from:]) {
			return true
		}
	}
}

// endings are how the names of secrets end, without what only keys in PEM are called.
var endings = []string{"token", "secret", "password", "passwd", "passphrase", "auth"}

// mayEnd says whether a text ends in a key that may be a secret's.
func mayEnd(text []byte) bool {
	text = bytes.TrimRight(text, "\"' \t")
	if len(text) < 4 {
		return false
	}
	switch text[len(text)-1] | 0x20 {
	case 'y': // a key by itself is in PEM, and found by that
		before, ok := cutEnding(text, "key")
		return ok && before > 0 && isBare[text[before-1]]
	case 'n', 't', 'd', 'e', 'h':
		return endsAsSecret(text)
	}
	return false
}

// endsAsSecret says whether a text ends in the name of a secret, or in the word "value" below one.
func endsAsSecret(text []byte) bool {
	for _, ending := range endings {
		if _, ok := cutEnding(text, ending); ok {
			return true
		}
	}
	before, ok := cutEnding(text, "value")
	return ok && secretName(text[max(0, before-nameAbove):before])
}

// nameAbove is how far above its value the name of a variable stands, at most.
const nameAbove = 1 << 10

// secretName says whether a text may have the name of a secret in it.
func secretName(text []byte) bool {
	for _, word := range []string{"OKEN", "oken", "ECRET", "ecret", "ASSW", "assw", "ASSPH", "assph", "KEY", "key", "Key", "AUTH", "auth"} {
		if bytes.Contains(text, []byte(word)) {
			return true
		}
	}
	return false
}

// cutEnding says whether a text ends in a word, large or small and with or without what divides words, and where that begins.
func cutEnding[T []byte | string](text T, word string) (int, bool) {
	at, left := len(text), len(word)
	for left > 0 {
		if at--; at < 0 {
			return 0, false
		}
		switch char := text[at]; {
		case char|0x20 == word[left-1]:
			left--
		case char != '_' && char != '-' && char != '.':
			return 0, false
		}
	}
	return at, true
}

// mayHold says whether what follows a key may be a value that is a secret: not a number, a yes or no, or where one is found.
func mayHold(text []byte) bool {
	at := 0
	for at < len(text) && (text[at] == ' ' || text[at] == '\t' || text[at] == '"' || text[at] == '\'') {
		at++
	}
	if at == len(text) {
		return false
	}
	switch text[at] {
	case '$', '<', '{', '[', '(', ',':
		return false
	case '\n', '\r', '|', '>', '!', '&': // it stands further on
		return true
	}
	value := text[at:min(len(text), at+6)]
	return len(value) == 6 && bytes.IndexByte(value, '\n') < 0 && !bytes.HasPrefix(value, []byte("ENC["))
}

// shortestRun is how long a run of base64 must be to be looked into: shorter than the shortest key in PEM behind base64.
const shortestRun = 64

// isBase64 are the characters of base64, also of its form for addresses.
var isBase64 = func() (table [256]bool) {
	for _, char := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=") {
		table[char] = true
	}
	return table
}()

// hasRun says whether a text has a long run of base64.
func hasRun(text []byte) bool {
	start, _ := nextRun(text, 0)
	return start >= 0
}

// nextRun returns the next long run of base64 at or after a position, or -1. It looks at one character of every 64 as long as there
// is none: a run cannot lie between two that are not of it.
func nextRun(text []byte, from int) (start, end int) {
	for at := from + shortestRun - 1; at < len(text); {
		if !isBase64[text[at]] {
			at += shortestRun
			continue
		}
		start, end = at, at+1
		for start > from && isBase64[text[start-1]] {
			start--
		}
		for end < len(text) && isBase64[text[end]] {
			end++
		}
		if end-start >= shortestRun {
			return start, end
		}
		from, at = end, end+shortestRun-1
	}
	return -1, -1
}
