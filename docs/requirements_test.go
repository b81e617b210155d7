// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// asked is everything that was asked for: from the first number to the last, and how it is called in the summary. Nothing can
// disappear from the page without disappearing here.
var asked = []struct {
	prefix      string
	first, last int
	source      string
}{
	{"DOM", 1, 174, "the domain"},
	{"SPL", 1, 24, "workers and pools"},
	{"SPL", 30, 45, "workers and pools"},
	{"SPL", 60, 72, "workers and pools"},
	{"SPL", 80, 84, "workers and pools"},
}

// What can be said of a requirement. What is not met says what is missing, after this word.
var states = []string{"met", "partly", "not yet"}

const missing = "**Missing:** "

// A requirement is a line of the page.
type requirement struct{ id, asks, state, where, shown string }

// identifier is how a line begins that is about something that was asked for.
var identifier = regexp.MustCompile(`^\| [A-Z]{3}-\d`)

// requirements reads the lines of a page.
func requirements(page string) (all []requirement, problems []string) {
	for _, line := range strings.Split(page, "\n") {
		if !identifier.MatchString(line) {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|")
		for at := range cells {
			cells[at] = strings.TrimSpace(cells[at])
		}
		if len(cells) != 5 {
			problems = append(problems, fmt.Sprintf("%s has %d cells", cells[0], len(cells)))
			continue
		}
		all = append(all, requirement{cells[0], cells[1], cells[2], cells[3], cells[4]})
	}
	return all, problems
}

// TestRequirements holds the page of requirements to what was asked, and to the code.
func TestRequirements(t *testing.T) {
	for _, problem := range audit(readPage(t)) {
		t.Error(problem)
	}
}

// readPage reads the page of requirements.
func readPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("requirements.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// audit says what is wrong with a page of requirements.
func audit(page string) []string {
	all, problems := requirements(page)
	var found []string
	for _, one := range all {
		found = append(found, one.id)
		for _, problem := range one.problems() {
			problems = append(problems, one.id+": "+problem)
		}
	}
	problems = append(problems, complete(found)...)
	for _, line := range summary(all) {
		if !strings.Contains(page, "\n"+line+"\n") {
			problems = append(problems, "the summary has no line "+line)
		}
	}
	return problems
}

// complete compares identifiers with those of all that was asked.
func complete(found []string) (problems []string) {
	var wanted []string
	for _, some := range asked {
		for number := some.first; number <= some.last; number++ {
			wanted = append(wanted, fmt.Sprintf("%s-%03d", some.prefix, number))
		}
	}
	count := map[string]int{}
	for _, id := range found {
		if count[id]++; count[id] == 2 {
			problems = append(problems, id+" stands there twice")
		}
		if !slices.Contains(wanted, id) {
			problems = append(problems, id+" was never asked for")
		}
	}
	for _, id := range wanted {
		if count[id] == 0 {
			problems = append(problems, id+" is not there")
		}
	}
	if len(problems) == 0 && !slices.Equal(found, wanted) {
		problems = append(problems, "the lines are not in the order in which it was asked")
	}
	return problems
}

// problems are what is wrong with one line.
func (r requirement) problems() (problems []string) {
	add := func(wrong bool, text string) {
		if wrong {
			problems = append(problems, text)
		}
	}
	add(!slices.Contains(states, r.state), "there is no state "+r.state)
	add(r.asks == "", "it does not say what is asked")
	add(r.where == "", "it does not say where it is")
	add((r.state == "met") == strings.Contains(r.where, missing), "it is "+r.state+", and says otherwise of what is missing")
	add(r.state == "not yet" && r.shown != "", "it is not there, and a test shows it")
	if r.state != "not yet" {
		problems = append(problems, unproven(r.shown)...)
	}
	for _, found := range link.FindAllStringSubmatch(r.asks+r.where, -1) {
		if problem := astray("requirements.md", found[1]); problem != "" {
			problems = append(problems, problem)
		}
	}
	return problems
}

// summary is what the lines of the summary have to be.
func summary(all []requirement) (lines []string) {
	row := func(of string, covers func(requirement) bool) string {
		line, total := "| "+of+" |", 0
		for _, state := range states {
			count := 0
			for _, one := range all {
				if covers(one) && one.state == state {
					count++
				}
			}
			line, total = fmt.Sprintf("%s %d |", line, count), total+count
		}
		return fmt.Sprintf("%s %d |", line, total)
	}
	done := map[string]bool{}
	for _, some := range asked {
		if !done[some.prefix] {
			lines = append(lines, row(some.source, func(r requirement) bool { return strings.HasPrefix(r.id, some.prefix) }))
		}
		done[some.prefix] = true
	}
	return append(lines, row("all", func(requirement) bool { return true }))
}

// TestRequirementsWouldNotice spoils the page in one way after the other, and wants each to be noticed.
func TestRequirementsWouldNotice(t *testing.T) {
	page := readPage(t)
	all, _ := requirements(page)
	of := func(state string) requirement {
		at := slices.IndexFunc(all, func(r requirement) bool { return r.state == state })
		if at < 0 {
			t.Fatalf("no line is %s", state)
		}
		return all[at]
	}
	line := func(r requirement) string {
		return strings.Join([]string{"|", r.id, "|", r.asks, "|", r.state, "|", r.where, "|", r.shown, "|"}, " ")
	}
	change := func(r requirement, by func(*requirement)) [2]string {
		changed := r
		by(&changed)
		return [2]string{line(r), line(changed)}
	}
	met, part, none := of("met"), of("partly"), of("not yet")
	for want, words := range map[string][2]string{
		met.id + " is not there":              {line(met) + "\n", ""},
		met.id + " stands there twice":        {line(met), line(met) + "\n" + line(met)},
		"DOM-175 was never asked for":         {line(met), line(met) + "\n" + strings.Replace(line(met), met.id, "DOM-175", 1)},
		"not in the order":                    {line(all[0]) + "\n" + line(all[1]), line(all[1]) + "\n" + line(all[0])},
		met.id + " has 6 cells":               {line(met), line(met) + " |"},
		"there is no state nearly":            change(met, func(r *requirement) { r.state = "nearly" }),
		"no test is named":                    change(met, func(r *requirement) { r.shown = "by hand" }),
		"there is no test TestNothing":        change(met, func(r *requirement) { r.shown = "`docs.TestNothing`" }),
		"not all of it are tests":             change(part, func(r *requirement) { r.shown += " and `by hand`" }),
		"met, and says otherwise of what":     change(met, func(r *requirement) { r.where += " " + missing + "something" }),
		"partly, and says otherwise of what":  change(part, func(r *requirement) { r.where = strings.ReplaceAll(r.where, missing, "") }),
		"not yet, and says otherwise of what": change(none, func(r *requirement) { r.where = "soon" }),
		"it is not there, and a test shows":   change(none, func(r *requirement) { r.shown = met.shown }),
		"it does not say what is asked":       change(met, func(r *requirement) { r.asks = "" }),
		"it does not say where it is":         change(met, func(r *requirement) { r.where = "" }),
		"link to nowhere.md":                  change(met, func(r *requirement) { r.where += " [there](nowhere.md)" }),
		"link to check.md#nowhere":            change(part, func(r *requirement) { r.where += " [there](check.md#nowhere)" }),
		"the summary has no line | all |":     change(none, func(r *requirement) { r.state, r.where, r.shown = met.state, met.where, met.shown }),
		"the summary has no line | the":       {"\n| the domain |", "\n| the domain | 1"},
		"the summary has no line | workers":   {"\n| workers and pools |", "\n| pools |"},
	} {
		spoilt := strings.Replace(page, words[0], words[1], 1)
		if spoilt == page {
			t.Errorf("%s: the page has no %q", want, words[0])
		}
		if problems := strings.Join(audit(spoilt), "\n"); !strings.Contains(problems, want) {
			t.Errorf("it is not noticed: %s, in\n%s", want, problems)
		}
	}
}
