// SPDX-License-Identifier: Apache-2.0

package invariant

import (
	"maps"
	"slices"
	"strings"
)

// Known are values that nobody may write down, by what they are called.
type Known map[string]string

// shortest is how long a value must be to be looked for: a shorter one is found anywhere by chance.
const shortest = 10

// keyWords are how a private key begins, of whatever kind.
const keyWords = "PRIVATE KEY-----"

// Leaks says which of the values, or private keys of any kind, are in a text. The evidence has the line without the value.
func Leaks(where, text string, known Known) []Violation {
	var found []Violation
	for _, name := range slices.Sorted(maps.Keys(known)) {
		value := known[name]
		if len(value) < shortest {
			continue
		}
		if at := strings.Index(text, value); at >= 0 {
			found = append(found, violation(Secrecy, "%s is in %s: %s", name, where, excerpt(text, at, value)))
		}
	}
	if at := strings.Index(text, keyWords); at >= 0 {
		found = append(found, violation(Secrecy, "a private key is in %s, at byte %d", where, at))
	}
	return found
}

// around is how much of a text stands before and after what is found in it.
const around = 120

// excerpt is the line around a value, which is left out.
func excerpt(text string, at int, value string) string {
	begin, end := max(0, at-around), min(len(text), at+len(value)+around)
	before, after := text[begin:at], text[at+len(value):end]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	after, _, _ = strings.Cut(after, "\n")
	return strings.ReplaceAll(before+value+after, value, "(the value)")
}
