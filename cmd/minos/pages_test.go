// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"minos.dev/minos/cli"
)

// mention is a command in the middle of a sentence or a table. Those of blocks are typed by a test of docs.
var mention = regexp.MustCompile("`(minos [^`]+)`")

// TestPagesNameWhatExists holds every command that a page mentions to the tree: the command is there, and so are its flags.
func TestPagesNameWhatExists(t *testing.T) {
	tree := root()
	tree.SetOut(io.Discard)
	tree.SetErr(io.Discard)
	cli.Run(t.Context(), tree, []string{"help"}) // makes the tree ready, and runs nothing else
	mentioned := 0
	err := filepath.WalkDir("../..", func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() && (entry.Name() == "bin" || entry.Name() == ".git") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, found := range mention.FindAllStringSubmatch(string(text), -1) {
			mentioned++
			if problem := unknown(tree, found[1]); problem != "" {
				t.Errorf("%s: `%s`: %s", path, found[1], problem)
			}
		}
		return err
	})
	if err != nil || mentioned < 100 {
		t.Errorf("%d commands are mentioned only: %v", mentioned, err)
	}
}

// unknown says what of a command that is mentioned does not exist. What stands for others, such as … or a|b, ends it.
func unknown(tree *cobra.Command, words string) string {
	var args, flags []string
	for _, word := range strings.Fields(words)[1:] {
		if strings.ContainsAny(word, "…|><#&;") {
			break
		}
		if strings.HasPrefix(word, "-") {
			name, _, _ := strings.Cut(word, "=")
			flags = append(flags, name)
			continue
		}
		args = append(args, word)
	}
	found, rest, err := tree.Find(args)
	if err != nil {
		return err.Error()
	}
	if found.HasSubCommands() && len(rest) > 0 && rest[0] == strings.ToLower(rest[0]) {
		return fmt.Sprintf("%s has no %s", found.CommandPath(), rest[0])
	}
	for _, flag := range flags {
		name := strings.TrimLeft(flag, "-")
		known := found.Flags().Lookup(name) != nil || found.InheritedFlags().Lookup(name) != nil || name == "help"
		if !strings.HasPrefix(flag, "--") {
			known = len(name) == 1 && (found.Flags().ShorthandLookup(name) != nil || name == "h")
		}
		if !known {
			return fmt.Sprintf("%s has no %s", found.CommandPath(), flag)
		}
	}
	return ""
}

func TestUnknown(t *testing.T) {
	tree := root()
	for words, want := range map[string]bool{
		"minos check --only MIN": false, "minos pool list -A": false, "minos cluster … | pool …": false, "minos secrets new CLUSTER": false,
		"minos chekc": true, "minos pool lst": true, "minos check --onyl MIN": true, "minos pool list -Q": true,
	} {
		if got := unknown(tree, words); (got != "") != want {
			t.Errorf("%s: %q", words, got)
		}
	}
}
