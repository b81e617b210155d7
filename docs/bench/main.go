// SPDX-License-Identifier: Apache-2.0

// Command bench writes the page about what things cost, with its plots, from the results of "make bench", so that it cannot tell
// another story than they do. It runs at the root of the checkout: go run ./docs/bench. With the words "keep FILE" it takes new results
// from a file first; with the word "machine" it prints what is to be known of the machine that measures, which is how results begin.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// What is read and what is written.
const (
	folder      = "docs/bench"
	resultsFile = "results.txt"
	page        = "docs/bench.md"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run does what it is asked for.
func run(args []string) error {
	switch {
	case len(args) == 0:
		return write()
	case len(args) == 2 && args[0] == "keep":
		return keep(args[1])
	case len(args) == 1 && args[0] == "machine":
		_, err := fmt.Print(machine(os.ReadFile, time.Now()))
		return err
	}
	return fmt.Errorf("%q is not known: say nothing, for the page, or keep FILE, or machine", args)
}

// keep takes over the results of a run, and writes the page about them. Plots that are no longer made go.
func keep(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("%w: run 'make bench' first", err)
	}
	if _, err := parse(string(text)); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(folder, "*.svg"))
	if err != nil {
		return err
	}
	for _, plot := range old {
		if err := os.Remove(plot); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(folder, resultsFile), []byte(figuresOnly(string(text))), 0o644); err != nil {
		return err
	}
	return write()
}

// write writes the page and its plots.
func write() error {
	text, err := os.ReadFile(filepath.Join(folder, resultsFile))
	if err != nil {
		return fmt.Errorf("%w: run 'make bench' and then 'make bench-page'", err)
	}
	files, err := files(string(text))
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join("docs", name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// files are the page and its plots, by their names in docs/.
func files(text string) (map[string]string, error) {
	found, err := parse(text)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, plot := range plots(found) {
		files["bench/"+plot.name+".svg"] = plot.svg
	}
	files[filepath.Base(page)] = pageOf(found)
	return files, nil
}
