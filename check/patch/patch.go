// SPDX-License-Identifier: Apache-2.0

// Package patch mends files by the patches of findings, and shows what that changes.
package patch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"minos.dev/minos/check/rule"
)

// A Change is what patches do to one file.
type Change struct {
	// File is the file, with its text before and after.
	File          string
	Before, After string
	// Applied is how many patches were applied, and Left how many were not, because they touch the lines of another.
	Applied, Left int

	lines []line
}

// A line of a difference: kept, taken out or put in.
type line struct {
	sign byte
	text string
}

// Apply applies patches of one file to its text. Equal ones count once. One that does not fit the text is an error: the text is not
// the one that was judged.
func Apply(file, text string, patches []*rule.Patch) (*Change, error) {
	change := &Change{File: file, Before: text}
	sorted := slices.SortedStableFunc(slices.Values(patches), func(a, b *rule.Patch) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), slices.Compare(a.Lines, b.Lines))
	})
	sorted = slices.CompactFunc(sorted, func(a, b *rule.Patch) bool {
		return a.From == b.From && a.To == b.To && slices.Equal(a.Lines, b.Lines)
	})
	old := linesOf(text)
	next := 1 // the first line that is not dealt with
	for _, one := range sorted {
		if one.From < 1 || one.To < one.From-1 || one.To > len(old) {
			return nil, fmt.Errorf("%s has %d lines, and a patch is about lines %d to %d", file, len(old), one.From, one.To)
		}
		if one.From < next {
			change.Left++
			continue
		}
		change.keep(old[next-1 : one.From-1])
		for _, text := range old[one.From-1 : one.To] {
			change.lines = append(change.lines, line{'-', text})
		}
		for _, text := range one.Lines {
			change.lines = append(change.lines, line{'+', text})
		}
		next = one.To + 1
		change.Applied++
	}
	change.keep(old[next-1:])
	change.After = change.after(text == "" || strings.HasSuffix(text, "\n"))
	return change, nil
}

// linesOf are the lines of a text. A file that is to be made has none.
func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// keep takes lines over.
func (c *Change) keep(lines []string) {
	for _, text := range lines {
		c.lines = append(c.lines, line{' ', text})
	}
}

// after is the text afterwards.
func (c *Change) after(ended bool) string {
	var lines []string
	for _, one := range c.lines {
		if one.sign != '-' {
			lines = append(lines, one.text)
		}
	}
	text := strings.Join(lines, "\n")
	if ended && len(lines) > 0 {
		text += "\n"
	}
	return text
}

// around is how many lines are shown before and after a change.
const around = 3

// Diff is what changes, as diff -u shows it.
func (c *Change) Diff() string {
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", c.File, c.File)
	old, changed := 1, 1 // the numbers of the next line, before and after
	for at := 0; at < len(c.lines); {
		end := c.hunk(at)
		if end == at { // nothing near here changes
			old, changed, at = old+1, changed+1, at+1
			continue
		}
		var removed, added int
		for _, one := range c.lines[at:end] {
			removed += count(one.sign != '+')
			added += count(one.sign != '-')
		}
		start := old
		if removed == 0 {
			start-- // of nothing, the line before it is named
		}
		fmt.Fprintf(&out, "@@ -%d,%d +%d,%d @@\n", start, removed, changed, added)
		for _, one := range c.lines[at:end] {
			fmt.Fprintf(&out, "%c%s\n", one.sign, one.text)
		}
		old, changed, at = old+removed, changed+added, end
	}
	return out.String()
}

// hunk is where the lines end that are shown together, beginning at one; the same line, if nothing changes soon.
func (c *Change) hunk(from int) int {
	end := from
	for at := from; at < min(len(c.lines), max(end, from)+2*around+1); at++ {
		if c.lines[at].sign == ' ' {
			continue
		}
		if end == from && at > from+around {
			return from
		}
		end = at + 1
	}
	if end == from {
		return from
	}
	return min(len(c.lines), end+around)
}

// count is one for what is so.
func count(so bool) int {
	if so {
		return 1
	}
	return 0
}
