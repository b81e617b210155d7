// SPDX-License-Identifier: Apache-2.0

package template

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
)

// Options are what a template gets beside its data.
type Options struct {
	// Env are the variables that the function env knows. Any other is an error.
	Env map[string]string
	// Strict makes a key that is not there an error, as it is for topf; else it prints as "<no value>", as for talhelper.
	Strict bool
}

const (
	mostSteps  = 100_000 // how often loops may turn and templates may call each other
	mostOutput = 1 << 20 // how much a template may write
	tick       = "_tick" // the function that counts steps
)

// Has says whether a text holds a template at all.
func Has(text string) bool { return strings.Contains(text, "{{") }

// Render renders a template. An error is one line without the text of the template.
func Render(text string, data any, options Options) (string, error) {
	if !Has(text) {
		return text, nil
	}
	steps := 0
	known := functions(options)
	known[tick] = func() (string, error) {
		if steps++; steps > mostSteps {
			return "", fmt.Errorf("it takes more than %d steps", mostSteps)
		}
		return "", nil
	}
	missing := "missingkey=default"
	if options.Strict {
		missing = "missingkey=error"
	}
	parsed, err := template.New("template").Option(missing).Funcs(known).Parse(text)
	if err != nil {
		return "", explain(err)
	}
	if err := count(parsed, known); err != nil {
		return "", err
	}
	out := &limited{}
	if err := parsed.Execute(out, data); err != nil {
		return "", explain(err)
	}
	return out.String(), nil
}

// Names returns the names of the functions that a template can use beside those of Go, sorted.
func Names() []string {
	return slices.Sorted(maps.Keys(functions(Options{})))
}

// count makes every loop and every template count its steps: Go's templates can run for ever, and cannot be stopped.
func count(parsed *template.Template, known template.FuncMap) error {
	counter, err := template.New("counter").Funcs(known).Parse("{{" + tick + "}}")
	if err != nil {
		return err
	}
	step := counter.Root.Nodes[0]
	for _, one := range parsed.Templates() {
		if one.Tree != nil && one.Root != nil {
			countIn(one.Root, step)
			prepend(one.Root, step)
		}
	}
	return nil
}

// countIn makes the loops below a list count.
func countIn(list *parse.ListNode, step parse.Node) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		var branch *parse.BranchNode
		switch node := node.(type) {
		case *parse.IfNode:
			branch = &node.BranchNode
		case *parse.WithNode:
			branch = &node.BranchNode
		case *parse.RangeNode:
			branch = &node.BranchNode
		default:
			continue
		}
		countIn(branch.List, step)
		countIn(branch.ElseList, step)
		if node.Type() == parse.NodeRange {
			prepend(branch.List, step)
		}
	}
}

func prepend(list *parse.ListNode, step parse.Node) {
	list.Nodes = append([]parse.Node{step.Copy()}, list.Nodes...)
}

// limited is a buffer that does not grow without end.
type limited struct{ bytes.Buffer }

func (l *limited) Write(text []byte) (int, error) {
	if l.Len()+len(text) > mostOutput {
		return 0, fmt.Errorf("it writes more than %d bytes", mostOutput)
	}
	return l.Buffer.Write(text)
}

var (
	prefix  = regexp.MustCompile(`^template: (template)?:?`)
	unknown = regexp.MustCompile(`function "([^"]*)" not defined`)
)

// explain makes one line of what Go says of a template, and names a function that we do not have as such.
func explain(err error) error {
	text, _, _ := strings.Cut(prefix.ReplaceAllString(err.Error(), ""), "\n")
	if name := unknown.FindStringSubmatch(text); name != nil {
		return fmt.Errorf("the template uses the function %q, which is not supported here", name[1])
	}
	return errors.New("the template cannot be rendered: line " + text)
}
