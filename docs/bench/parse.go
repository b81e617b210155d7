// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Results are what "make bench" printed.
type results struct {
	// machine is what is known of the machine, by name: date, cores, go, memory, load, cpu; and a note, if results were put together by hand.
	machine map[string]string
	lines   []line
}

// A line is what one benchmark measured at one size.
type line struct {
	// benchmark is its name in Go, without the word in front, and variant what comes behind.
	benchmark, variant string
	figures            map[string]float64 // by unit
}

// What lines of Go's benchmark format look like.
var (
	setting = regexp.MustCompile(`^([a-z]+): (.+)$`)
	cores   = regexp.MustCompile(`-\d+$`)
)

// parse reads results. What failed is no result: a run is repeated, and not told of in part.
func parse(text string) (results, error) {
	found := results{machine: map[string]string{}}
	for number, words := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(words, "--- FAIL"), strings.HasPrefix(words, "FAIL"), strings.HasPrefix(words, "panic:"):
			return results{}, fmt.Errorf("line %d of the results is %q: repeat the run", number+1, words)
		case setting.MatchString(words):
			parts := setting.FindStringSubmatch(words)
			found.machine[parts[1]] = strings.TrimSpace(parts[2])
		case strings.HasPrefix(words, "Benchmark"):
			one, err := parseLine(words)
			if err != nil {
				return results{}, fmt.Errorf("line %d of the results: %w", number+1, err)
			}
			if one.figures == nil {
				continue
			}
			if found.of(one.benchmark, one.variant) != nil {
				return results{}, fmt.Errorf("line %d of the results: %s %s was measured before: keep one of the two", number+1, one.benchmark, one.variant)
			}
			found.lines = append(found.lines, one)
		}
	}
	if len(found.lines) == 0 {
		return results{}, fmt.Errorf("the results have no figures: they are what 'make bench' prints")
	}
	return found, nil
}

// figuresOnly are results without what programs said meanwhile.
func figuresOnly(text string) string {
	var kept []string
	for words := range strings.SplitSeq(text, "\n") {
		if setting.MatchString(words) || strings.HasPrefix(words, "Benchmark") || strings.HasPrefix(words, "ok ") {
			kept = append(kept, words)
		}
	}
	return strings.Join(kept, "\n") + "\n"
}

// parseLine reads the line of a benchmark: its name, how often it was done, and then figures with their units. A name alone only says
// that it begins.
func parseLine(text string) (line, error) {
	words := strings.Fields(text)
	name := strings.TrimPrefix(cores.ReplaceAllString(words[0], ""), "Benchmark")
	one := line{}
	one.benchmark, one.variant, _ = strings.Cut(name, "/")
	if len(words) == 1 {
		return one, nil
	}
	if len(words)%2 != 0 {
		return line{}, fmt.Errorf("%s has a figure without a unit", name)
	}
	one.figures = map[string]float64{}
	for at := 2; at < len(words); at += 2 {
		figure, err := strconv.ParseFloat(words[at], 64)
		if err != nil {
			return line{}, fmt.Errorf("%s: %q is not a figure", name, words[at])
		}
		one.figures[words[at+1]] = figure
	}
	return one, nil
}

// of is the line of a benchmark at a variant, or nil.
func (r results) of(benchmark, variant string) *line {
	at := slices.IndexFunc(r.lines, func(one line) bool { return one.benchmark == benchmark && one.variant == variant })
	if at < 0 {
		return nil
	}
	return &r.lines[at]
}

// all are the lines of a benchmark, in the order in which they were measured.
func (r results) all(benchmark string) []line {
	var found []line
	for _, one := range r.lines {
		if one.benchmark == benchmark {
			found = append(found, one)
		}
	}
	return found
}

// size is the number in a variant that is one and nothing else: machines=100, or 100.
func (l line) size() (float64, bool) {
	_, number, found := strings.Cut(l.variant, "=")
	if !found {
		number = l.variant
	}
	size, err := strconv.ParseFloat(number, 64)
	return size, err == nil
}

// sized are the lines of a benchmark that are one size each, smallest first.
func (r results) sized(benchmark string) []line {
	found := slices.DeleteFunc(r.all(benchmark), func(one line) bool { _, ok := one.size(); return !ok })
	slices.SortStableFunc(found, func(a, b line) int {
		of, than := must(a.size()), must(b.size())
		return cmp.Compare(of, than)
	})
	return found
}

// must is a size of which it is known that there is one.
func must(size float64, _ bool) float64 { return size }
