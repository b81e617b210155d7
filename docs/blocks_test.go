// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A block is a part of a page that is no prose: between fences, or in a comment that only tests read.
type block struct {
	language string
	text     string
	line     int // of the page, on which it begins
	start    int // of the text, in the page
}

var (
	// fence is a block; it may stand in a list, and so be indented.
	fence = regexp.MustCompile("(?ms)^([ ]*)```([^\\n`]*)\\n(.*?)^[ ]*```[ ]*$")
	// granted is what a page takes for granted: commands that its reader need not see, such as a folder that somebody has already.
	granted = regexp.MustCompile(`(?ms)^<!-- sh\n(.*?)^-->$`)
)

// languages are what a block may be. One without a language would be run by nobody and compared with nothing.
var languages = map[string]string{
	"sh":      "commands, which are run",
	"text":    "what the commands before it print, which is compared; or a drawing, if there are none",
	"console": "commands that cannot be run here",
	"yaml":    "declarations, which are held to the rules",
	"yml":     "other YAML",
	"json":    "data",
	"go":      "a program",
	"mermaid": "a drawing",
}

// blocksOf are the blocks of a page, in its order. What is granted has the language "granted".
func blocksOf(page string) (all []block) {
	hidden := granted.FindAllStringSubmatchIndex(page, -1)
	for _, at := range fence.FindAllStringSubmatchIndex(page, -1) {
		for len(hidden) > 0 && hidden[0][0] < at[0] {
			all, hidden = append(all, blockAt(page, "granted", hidden[0][2:4])), hidden[1:]
		}
		found := blockAt(page, page[at[4]:at[5]], at[6:8])
		if indent := page[at[2]:at[3]]; indent != "" {
			found.text = strings.ReplaceAll(strings.TrimPrefix(found.text, indent), "\n"+indent, "\n")
		}
		all = append(all, found)
	}
	return all
}

func blockAt(page, language string, at []int) block {
	return block{language: language, text: page[at[0]:at[1]], line: strings.Count(page[:at[0]], "\n") + 1, start: at[0]}
}

// ending is how the last line of a block says that its command does not end well, or not by itself: "# exits with 2" or
// "# stays until Ctrl-C". Readers want to know it too.
var ending = regexp.MustCompile(`# (?:exits with (\d+)|stays until Ctrl-C)[^\n]*\n$`)

// ends says with which exit code a block ends, or that it stays.
func (b block) ends() (code int, stays bool) {
	found := ending.FindStringSubmatch(b.text)
	if found == nil {
		return 0, false
	}
	code, err := strconv.Atoi(found[1])
	return code, err != nil
}

// prints says whether a text is what was printed. In it … stands for anything within a line, and for any lines if it is alone in one.
func prints(text, printed string) bool {
	var pattern strings.Builder
	pattern.WriteString("^")
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		if line == "…" {
			pattern.WriteString("(?:.*\n)*?")
			continue
		}
		parts := strings.Split(line, "…")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		pattern.WriteString(strings.Join(parts, ".*") + " *\n")
	}
	return regexp.MustCompile(pattern.String() + "$").MatchString(strings.TrimRight(printed, "\n") + "\n")
}

func TestBlocks(t *testing.T) {
	page := "# A page\n\n```sh\nmake tea   # exits with 2: there is none\n```\n\n" +
		"<!-- sh\nmkdir cup\n-->\n\n- in a list:\n  ```text\n  one\n    two\n  ```\n```sh\nserve   # stays until Ctrl-C\n```\n"
	got := blocksOf(page)
	if len(got) != 4 {
		t.Fatalf("%+v", got)
	}
	for i, want := range []struct {
		language, text string
		line, code     int
		stays          bool
	}{
		{"sh", "make tea   # exits with 2: there is none\n", 4, 2, false},
		{"granted", "mkdir cup\n", 8, 0, false},
		{"text", "one\n  two\n", 13, 0, false},
		{"sh", "serve   # stays until Ctrl-C\n", 17, 0, true},
	} {
		code, stays := got[i].ends()
		if b := got[i]; b.language != want.language || b.text != want.text || b.line != want.line || code != want.code || stays != want.stays {
			t.Errorf("%+v %d %t, want %+v", b, code, stays, want)
		}
	}
}

func TestPrints(t *testing.T) {
	for _, test := range []struct {
		text, printed string
		want          bool
	}{
		{"one\ntwo\n", "one\ntwo\n", true},
		{"one\ntwo\n", "one\ntwo\n\n", true},
		{"one\n", "one\ntwo\n", false},
		{"two\n", "one\ntwo\n", false},
		{"one\n…\n", "one\ntwo\nthree\n", true},
		{"…\ntwo\n", "one\ntwo\n", true},
		{"one\n…\ntwo\n", "one\ntwo\n", true},
		{"took … seconds\n", "took 3.1 seconds\n", true},
		{"took … seconds\n", "took 3.1\nseconds\n", false},
		{"a.c\n", "abc\n", false},
		{"table  \n", "table\n", true},
	} {
		if got := prints(test.text, test.printed); got != test.want {
			t.Errorf("%q for %q: %t", test.text, test.printed, got)
		}
	}
}
