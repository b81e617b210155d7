// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"
)

// proof is how a page names a test, and a case of it behind a slash.
var proof = regexp.MustCompile("`([\\w/-]+)\\.(Test\\w+)(?:/([^`]+))?`")

// TestProofsWouldNotice looks for tests, cases and places that are not there.
func TestProofsWouldNotice(t *testing.T) {
	for cell, want := range map[string]string{
		"`docs.TestProofsWouldNotice`":                                             "",
		"`minos.TestRooms`, `docs.TestLinksLeadSomewhere`":                         "",
		"`controller/cluster.TestHosted/becomes ready`":                            "",
		"`check/roles.TestRules/ROL-001`":                                          "",
		"`cli.TestTranscripts/check`":                                              "",
		"`docs.TestNothing`":                                                       "there is no test TestNothing in docs",
		"`nowhere.TestLessons`":                                                    "there are no tests in nowhere",
		"`controller/cluster.TestHosted/becomes a frog`":                           "test TestHosted in controller/cluster has no case becomes a frog",
		"`check/roles.TestRules/ROL-999`":                                          "test TestRules in check/roles has no case ROL-999",
		"by hand":                                                                  "no test is named",
		"`docs.TestProofsWouldNotice` and `by hand`":                               "not all of it are tests",
		"`docs.TestProofsWouldNotice`, `docs.TestNothing`, `nowhere.TestAnything`": "there is no test TestNothing in docs; there are no tests in nowhere",
	} {
		if got := strings.Join(unproven(cell), "; "); got != want {
			t.Errorf("%s: %q, want %q", cell, got, want)
		}
	}
	for target, there := range map[string]bool{
		"check.md": true, "check.md#what-it-reads": true, "../README.md": true, "kinds": true,
		"chick.md": false, "check.md#what-it-eats": false, "kinds#nothing": false,
	} {
		if problem := astray("operator.md", target); there != (problem == "") {
			t.Errorf("%s: %q", target, problem)
		}
	}
	if problem := astray("rules/roles.md", "../check.md#mending"); problem != "" {
		t.Error(problem)
	}
}

// unproven says what is wrong with the tests that a cell of a table names; nothing if there are some, and all of them exist.
func unproven(cell string) (problems []string) {
	proofs := proof.FindAllStringSubmatch(cell, -1)
	switch {
	case len(proofs) == 0:
		return []string{"no test is named"}
	case strings.Count(cell, "`") != 2*len(proofs):
		return []string{"not all of it are tests"}
	}
	for _, one := range proofs {
		if problem := shown(one[1], one[2], one[3]); problem != "" {
			problems = append(problems, problem)
		}
	}
	return problems
}

// shown says what is wrong with a test that a page names; empty if it is there, with its case. The root is called minos.
func shown(folder, name, part string) string {
	where := filepath.Join("..", folder)
	if folder == "minos" {
		where = ".."
	}
	found := testsIn(where)
	switch {
	case found.problem != "":
		return found.problem
	case len(found.names) == 0:
		return "there are no tests in " + folder
	case !slices.Contains(found.names, name):
		return "there is no test " + name + " in " + folder
	case part != "" && !slices.Contains(found.cases, part):
		return "test " + name + " in " + folder + " has no case " + part
	}
	return ""
}

// A suite is what the tests of a folder are called, and what may be a case of one: a text in their source, or a file that they read.
type suite struct {
	names, cases []string
	problem      string
}

var (
	suites      = map[string]suite{}
	suitesMutex sync.Mutex
)

// testsIn reads the tests of a folder, once.
func testsIn(where string) suite {
	suitesMutex.Lock()
	defer suitesMutex.Unlock()
	if known, ok := suites[where]; ok {
		return known
	}
	files, err := filepath.Glob(filepath.Join(where, "*_test.go"))
	found := suite{cases: stories(where)}
	for _, file := range files {
		source, problem := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err = problem; err != nil {
			break
		}
		ast.Inspect(source, found.visit)
	}
	if err != nil {
		found.problem = err.Error()
	}
	suites[where] = found
	return found
}

// visit notes a test or a text.
func (s *suite) visit(node ast.Node) bool {
	switch node := node.(type) {
	case *ast.FuncDecl:
		if node.Recv == nil && strings.HasPrefix(node.Name.Name, "Test") {
			s.names = append(s.names, node.Name.Name)
		}
	case *ast.BasicLit:
		if text, err := strconv.Unquote(node.Value); err == nil && node.Kind == token.STRING {
			s.cases = append(s.cases, text)
		}
	}
	return true
}

// stories are the cases that are files of their own.
func stories(where string) (all []string) {
	for _, pattern := range []string{"testdata/*", "testdata/*/*", "examples/*"} {
		files, err := filepath.Glob(filepath.Join(where, pattern))
		if err != nil {
			return nil
		}
		for _, file := range files {
			all = append(all, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
		}
	}
	return all
}

// link is a link within the repository: to a file, to a heading of it, or to a heading of the same page.
var link = regexp.MustCompile(`\]\(([^):]+)\)`)

// astray says why a link of a page leads nowhere; empty if it does not.
func astray(page, target string) string {
	file, heading, _ := strings.Cut(target, "#")
	path := page
	if file != "" {
		path = filepath.Join(filepath.Dir(page), file)
	}
	if _, err := os.Stat(path); err != nil {
		return fmt.Sprintf("link to %s: %v", target, err)
	}
	if heading == "" {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil || !slices.Contains(headings(string(text)), heading) {
		return fmt.Sprintf("link to %s: there is no such heading", target)
	}
	return ""
}

// headings are the names by which the headings of a page can be linked to.
func headings(text string) (all []string) {
	for at, block := range strings.Split(text, "\n```") {
		for _, line := range strings.Split(block, "\n") {
			if at%2 == 1 { // what is shown as code
				break
			}
			if words := strings.TrimLeft(line, "#"); words != line && strings.HasPrefix(words, " ") {
				all = append(all, strings.Map(anchored, strings.TrimSpace(words)))
			}
		}
	}
	return all
}

// anchored is what becomes of a letter of a heading in a link to it.
func anchored(letter rune) rune {
	switch {
	case letter == ' ':
		return '-'
	case letter == '-' || letter == '_' || unicode.IsLetter(letter) || unicode.IsDigit(letter):
		return unicode.ToLower(letter)
	}
	return -1
}
