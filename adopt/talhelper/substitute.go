// SPDX-License-Identifier: Apache-2.0

package talhelper

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// substituted replaces variables in YAML, as talhelper does: comments are taken out first, because what stands in them is
// nobody's variable, and then the text is filled in as text.
func substituted(text []byte, variables map[string]string) ([]byte, error) {
	bare, err := withoutComments(text)
	if err != nil {
		return nil, err
	}
	filled, err := substitute(string(bare), variables)
	return []byte(filled), err
}

// withoutComments writes YAML anew, without its comments.
func withoutComments(text []byte) ([]byte, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	for {
		var node yaml.Node
		err := decoder.Decode(&node)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		uncomment(&node)
		if err := encoder.Encode(&node); err != nil {
			return nil, err
		}
	}
	err := encoder.Close()
	return b.Bytes(), err
}

func uncomment(node *yaml.Node) {
	node.HeadComment, node.LineComment, node.FootComment = "", "", ""
	for _, below := range node.Content {
		uncomment(below)
	}
}

// substitute fills variables into a text: $NAME, ${NAME} and ${NAME:-default} with its relatives; $$ is a dollar. A
// variable that is not set, or is set to nothing, is an error unless it has a default.
func substitute(text string, variables map[string]string) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "$")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		value, after, err := variable(rest, variables)
		if err != nil {
			return "", err
		}
		b.WriteString(value)
		text = after
	}
}

// variable reads what follows a dollar, and returns what stands in its place and what follows.
func variable(text string, variables map[string]string) (value, rest string, err error) {
	switch {
	case strings.HasPrefix(text, "$"):
		return "$", text[1:], nil
	case strings.HasPrefix(text, "{"):
		return braced(text[1:], variables)
	}
	name, rest := word(text)
	if name == "" || name == "_" {
		return "$" + name, rest, nil
	}
	value, err = lookup(name, variables)
	return value, rest, err
}

// braced reads what follows "${".
func braced(text string, variables map[string]string) (value, rest string, err error) {
	name, after := word(text)
	if name == "" {
		return "${", text, nil
	}
	inside, rest, closed := strings.Cut(after, "}")
	if !closed || strings.ContainsAny(inside, "\r\n") {
		return "", "", fmt.Errorf("${%s has no closing brace", name)
	}
	operator, fallback := operatorOf(inside)
	if strings.Contains(fallback, "${") {
		return "", "", fmt.Errorf("${%s has a variable in braces for its default, which talhelper does not understand", name)
	}
	value, err = choose(name, operator, fallback, variables)
	return value, rest, err
}

// operatorOf takes apart what stands between a name and the brace.
func operatorOf(inside string) (operator, fallback string) {
	for _, operator := range []string{":-", ":=", ":+", "-", "=", "+"} {
		if fallback, ok := strings.CutPrefix(inside, operator); ok {
			return operator, fallback
		}
	}
	return "", inside
}

// choose is the value of a variable with a default. A default that is nothing at all counts as none.
func choose(name, operator, fallback string, variables map[string]string) (string, error) {
	value, isSet := variables[name]
	if operator == "" || fallback == "" {
		return lookup(name, variables)
	}
	switch {
	case strings.HasSuffix(operator, "+") && !isSet:
		return "", nil
	case strings.HasSuffix(operator, "+"),
		strings.HasPrefix(operator, ":") && value == "",
		!isSet:
		return defaultOf(fallback, variables)
	}
	return lookup(name, variables)
}

// defaultOf is a default, which may be another variable.
func defaultOf(fallback string, variables map[string]string) (string, error) {
	if name, ok := strings.CutPrefix(fallback, "$"); ok {
		if whole, rest := word(name); whole != "" && rest == "" {
			return lookup(whole, variables)
		}
	}
	return fallback, nil
}

func lookup(name string, variables map[string]string) (string, error) {
	value, isSet := variables[name]
	switch {
	case !isSet:
		return "", fmt.Errorf("the variable %s is not set: put it into talenv.yaml, or give it with --env", name)
	case value == "":
		return "", fmt.Errorf("the variable %s is empty, which talhelper refuses", name)
	}
	return value, nil
}

// word is the name at the beginning of a text, and the rest.
func word(text string) (name, rest string) {
	end := 0
	for end < len(text) {
		r, size := utf8.DecodeRuneInString(text[end:])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		end += size
	}
	return text[:end], text[end:]
}
