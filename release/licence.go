// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A wording is by what a licence is known: all of these words occur in it.
type wording struct {
	id     string
	words  []string
	unless string // a licence that has these words too, and more
}

// wordings are the licences that are told apart. One that is none of them is left out of the bill rather than guessed.
var wordings = []wording{
	{id: "Apache-2.0", words: []string{"Apache License", "Version 2.0, January 2004"}},
	{id: "MPL-2.0", words: []string{"Mozilla Public License", "ersion 2.0"}},
	{id: "BSD-3-Clause", words: []string{"Redistribution and use in source and binary forms", "endorse or promote products"}},
	{id: "BSD-2-Clause", words: []string{"Redistribution and use in source and binary forms"}, unless: "BSD-3-Clause"},
	{id: "ISC", words: []string{"Permission to use, copy, modify, and", "distribute this software for any purpose with or without fee"}},
	{id: "MIT", words: []string{"Permission is hereby granted, free of charge, to any person obtaining a copy", "above copyright notice and this permission notice"}},
}

// licences are those of all modules that a program is made of, by module.
func (o order) licences(ctx context.Context, one target, program string) (map[string][]string, error) {
	const line = `{{with .Module}}{{with .Replace}}{{.Path}} {{.Dir}}{{else}}{{.Path}} {{.Dir}}{{end}}{{end}}`
	out, err := o.goCommand(ctx, one, "list", "-deps", "-f", line, "./cmd/"+program)
	if err != nil {
		return nil, err
	}
	found := map[string][]string{}
	for text := range strings.Lines(out) {
		path, folder, _ := strings.Cut(strings.TrimSpace(text), " ")
		if _, known := found[path]; known || folder == "" { // the standard library has no module
			continue
		}
		if found[path], err = licencesIn(folder); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// licencesIn are the licences that a module brings.
func licencesIn(folder string) (found []string, err error) {
	entries, err := os.ReadDir(folder)
	for _, entry := range entries {
		name := strings.ToUpper(entry.Name())
		if entry.IsDir() || !strings.HasPrefix(name, "LICENSE") && !strings.HasPrefix(name, "LICENCE") && !strings.HasPrefix(name, "COPYING") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		found = append(found, licencesOf(string(text))...)
	}
	slices.Sort(found)
	return slices.Compact(found), err
}

// licencesOf are the licences that a text holds; some files hold several.
func licencesOf(text string) (found []string) {
	text = strings.Join(strings.Fields(text), " ")
	for _, one := range wordings {
		missing := slices.ContainsFunc(one.words, func(words string) bool { return !strings.Contains(text, words) })
		if !missing && !slices.Contains(found, one.unless) {
			found = append(found, one.id)
		}
	}
	return found
}
