// SPDX-License-Identifier: Apache-2.0

// Package nearest finds the name that was probably meant, so that every error about an unknown name can offer one.
package nearest

import (
	"slices"
	"strings"
)

// Of returns the name that was most likely meant by word, or "" if none is near: at most one slip for every three
// letters, else a name that begins with word. Of equals the first in the alphabet wins.
func Of(word string, names []string) string {
	word = strings.ToLower(word)
	names = slices.Sorted(slices.Values(names))
	best, least := "", max(1, len([]rune(word))/3)+1
	for _, name := range names {
		if d := distance(word, strings.ToLower(name)); d < least {
			best, least = name, d
		}
	}
	if best != "" || len(word) < 2 {
		return best
	}
	for _, name := range names {
		if strings.HasPrefix(strings.ToLower(name), word) {
			return name
		}
	}
	return ""
}

// Hint is Of as the end of a sentence: `, did you mean "x"?`, or nothing.
func Hint(word string, names []string) string {
	if name := Of(word, names); name != "" {
		return `, did you mean "` + name + `"?`
	}
	return ""
}

// distance counts the slips between two words: a letter too many, too few, wrong, or swapped with its neighbour.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	var before, last []int // the rows of two letters ago and of one
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(from); i++ {
		before, last, row = last, row, make([]int, len(to)+1)
		row[0] = i
		for j := 1; j <= len(to); j++ {
			wrong := last[j-1]
			if from[i-1] != to[j-1] {
				wrong++
			}
			row[j] = min(last[j]+1, row[j-1]+1, wrong)
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(to)]
}
