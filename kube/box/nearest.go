// SPDX-License-Identifier: Apache-2.0

package box

import "strings"

// nearest gives the command most likely meant by a word, or nothing when no command is close.
func nearest(word string, commands []Command) string {
	best, least := "", len(word)/2+1 // more than half of the word wrong is not a slip of the finger
	for _, c := range commands {
		// People leave out the prefix: "apiserver" for kube-apiserver.
		if len(word) > 2 && strings.HasSuffix(c.Name, "-"+word) {
			return c.Name
		}
		if d := distance(word, c.Name); d < least {
			best, least = c.Name, d
		}
	}
	return best
}

// distance counts the letters to add, drop or change to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
