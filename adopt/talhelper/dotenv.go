// SPDX-License-Identifier: Apache-2.0

package talhelper

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// parseEnv reads a file of variables: lines of "NAME: value" or "NAME=value", with "export" before or not, values in quotes
// or not. talhelper reads YAML files with a reader for such lines, so that what is nested is not understood; and where the
// reader fails, talhelper goes on without a word. Here it is an error, because a variable would be missing.
func parseEnv(text string) (map[string]string, error) {
	variables := map[string]string{}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for n := 1; text != ""; n++ {
		line, rest, _ := strings.Cut(text, "\n")
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || strings.HasPrefix(trimmed, "#") || trimmed == "---" {
			text = rest
			continue
		}
		name, value, err := assignment(strings.TrimLeft(text, " \t"))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		used, rest, err := envValue(value, variables)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		n += strings.Count(text[:len(text)-len(rest)], "\n") - 1
		variables[name] = used
		text = rest
	}
	return variables, nil
}

var assigned = regexp.MustCompile(`^(?:export[ \t]+)?([A-Za-z0-9_.]+)[ \t]*[=:]`)

// assignment cuts a text behind the name of a variable.
func assignment(text string) (name, value string, err error) {
	found := assigned.FindStringSubmatchIndex(text)
	if found == nil {
		return "", "", errors.New("is not NAME: value")
	}
	return text[found[2]:found[3]], strings.TrimLeft(text[found[1]:], " \t"), nil
}

// envValue reads a value and returns what follows it, beginning with the next line.
func envValue(text string, variables map[string]string) (value, rest string, err error) {
	if text == "" || text[0] != '"' && text[0] != '\'' {
		line, rest, _ := strings.Cut(text, "\n")
		return expand(strings.TrimSpace(uncommented(line)), variables), rest, nil
	}
	quote := text[:1]
	end := closing(text)
	if end < 0 {
		return "", "", errors.New("a quote is not closed")
	}
	value = text[1:end]
	if quote == `"` {
		value = expand(unescape(value), variables)
	}
	_, rest, _ = strings.Cut(text[end+1:], "\n")
	return value, rest, nil
}

// closing finds the quote that ends a value; one behind a backslash does not.
func closing(text string) int {
	for i := 1; i < len(text); i++ {
		if text[i] == text[0] && text[i-1] != '\\' {
			return i
		}
	}
	return -1
}

// uncommented cuts a comment off a line, which needs a blank before it.
func uncommented(line string) string {
	for i := len(line) - 1; i > 0; i-- {
		if line[i] == '#' && (line[i-1] == ' ' || line[i-1] == '\t') {
			line = line[:i]
		}
	}
	return line
}

var escaped = regexp.MustCompile(`\\[^$]`)

// unescape resolves escapes in double quotes; that of a dollar stays for expand.
func unescape(text string) string {
	return escaped.ReplaceAllStringFunc(text, func(found string) string {
		switch found[1] {
		case 'n':
			return "\n"
		case 'r':
			return "\r"
		}
		return found[1:]
	})
}

var expansion = regexp.MustCompile(`\\?\$\{?[A-Z0-9_]+\}?`)

// expand fills variables of the same file into a value. Only names in capitals count here.
func expand(text string, variables map[string]string) string {
	return expansion.ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasPrefix(found, `\`) {
			return found[1:]
		}
		return variables[strings.Trim(found, "${}")]
	})
}
