// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// pageOf is the page about results.
func pageOf(found results) string {
	var text strings.Builder
	text.WriteString("# What it costs\n\n" +
		"Made by `make bench bench-page` from [its results](bench/" + resultsFile + "): do not change it by hand.\n\n" +
		"Read the ratios. Each is of two figures of one run on one machine, so that it says about the same on another; times say\n" +
		"something about this machine only.\n\n")
	text.WriteString(aboutMachine(found))
	text.WriteString(aboutRatios(found))
	var absent []string
	for _, one := range subjects {
		if len(found.all(one.benchmark)) == 0 {
			absent = append(absent, one.title)
			continue
		}
		text.WriteString(one.section(found))
	}
	if len(absent) > 0 {
		fmt.Fprintf(&text, "## Not in this run\n\n%s.\n", strings.Join(absent, "; "))
	}
	return strings.TrimRight(text.String(), "\n") + "\n"
}

// aboutMachine says where and when it was measured, and what is to be kept in mind.
func aboutMachine(found results) string {
	var rows []string
	for _, name := range []string{"date", "cores", "cpu", "memory", "go", "load"} {
		heading := map[string]string{
			"cpu": "processor", "go": "Go", "load": "load by others at the start",
		}[name]
		if value := found.machine[name]; value != "" {
			rows = append(rows, fmt.Sprintf("| %s | %s |", cmp.Or(heading, name), value))
		}
	}
	text := "| measured | |\n|---|---|\n" + strings.Join(rows, "\n") + "\n\n"
	if note := found.machine["note"]; note != "" {
		text += "**Not one run of `make bench`**: " + note + "\n\n"
	}
	cores, _ := strconv.ParseFloat(found.machine["cores"], 64)
	if load, err := strconv.ParseFloat(found.machine["load"], 64); err == nil && load > cores {
		text += fmt.Sprintf("**The machine was busy with other work**: a load of %s on %s cores when it began. Times are longer by that.\n\n", number(load), number(cores))
	}
	for _, one := range subjects {
		sized := found.sized(one.benchmark)
		if len(sized) == 0 || one.full == 0 {
			continue
		}
		if largest, _ := sized[len(sized)-1].size(); largest < one.full {
			text += fmt.Sprintf("**Not in full**: *%s* went up to %s in this run, and goes up to %s in a whole one.\n\n", one.title, number(largest), number(one.full))
		}
	}
	return text
}

// aboutRatios is the table of what is promised.
func aboutRatios(found results) string {
	var rows []string
	for _, one := range ratios {
		figure, variant, ok := one.in(found)
		if !ok {
			continue
		}
		verdict := "kept"
		if one.used(figure) > 1 {
			verdict = "**not kept**"
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s | %s |", one.name, cmp.Or(words(variant), "–"), number(figure), one.bound(), verdict))
	}
	if len(rows) == 0 {
		return ""
	}
	return "## Ratios and their limits\n\n| | at | measured | limit | |\n|---|---|---|---|---|\n" + strings.Join(rows, "\n") + "\n\n" + picture("ratios", ratiosTitle)
}

// picture is a plot on the page.
func picture(name, title string) string {
	return fmt.Sprintf("![%s](%s)\n\n", title, filepath.Join("bench", name+".svg"))
}

// section is what the page says of a subject.
func (s subject) section(found results) string {
	lines := found.all(s.benchmark)
	var text strings.Builder
	fmt.Fprintf(&text, "## %s\n\n%s\n\n", s.title, s.what)
	columns := slices.DeleteFunc(slices.Clone(s.columns), func(column [2]string) bool {
		return !slices.ContainsFunc(lines, func(one line) bool { _, ok := one.figures[column[0]]; return ok })
	})
	text.WriteString("| |")
	for _, column := range columns {
		text.WriteString(" " + column[1] + " |")
	}
	text.WriteString("\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, one := range lines {
		text.WriteString("| " + cmp.Or(words(one.variant), "–") + " |")
		for _, column := range columns {
			figure, ok := one.figures[column[0]]
			text.WriteString(" " + map[bool]string{true: number(figure)}[ok] + " |")
		}
		text.WriteString("\n")
	}
	largest, smallest := lines[len(lines)-1], lines[0]
	if sized := found.sized(s.benchmark); len(sized) > 0 {
		largest, smallest = sized[len(sized)-1], sized[0]
	}
	fmt.Fprintf(&text, "\n%s\n\n", s.says(largest, smallest))
	for _, name := range s.plots {
		if at := slices.IndexFunc(wishes, func(one wish) bool { return one.name == name }); wishes[at].chart(found).draw() != "" {
			text.WriteString(picture(name, wishes[at].title))
		}
	}
	return text.String()
}

// words is a variant for people: machines=1000/a-tenth-removed is "1,000 machines, a tenth removed".
func words(variant string) string {
	var parts []string
	for part := range strings.SplitSeq(variant, "/") {
		name, value, found := strings.Cut(part, "=")
		if !found {
			name, value = "", part
		}
		if size, err := strconv.ParseFloat(value, 64); err == nil {
			value = number(size)
			parts = append(parts, strings.TrimSpace(value+" "+name))
			continue
		}
		parts = append(parts, strings.TrimSpace(strings.ReplaceAll(value, "-", " ")+" "+name))
	}
	return strings.Join(parts, ", ")
}
