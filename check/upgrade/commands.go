// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"minos.dev/minos/check/facts"
)

// vanilla is the identity of a schematic that says nothing.
const vanilla = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"

var (
	// identity is the schematic in the name of an image.
	identity = regexp.MustCompile(`/([0-9a-f]{64}):`)
	// upgrading is a command that upgrades Talos or Kubernetes.
	upgrading = regexp.MustCompile(`(?:talosctl|talhelper)\b[^\n|;]*\s(upgrade(?:-k8s)?)\b`)
	// named is the image of such a command.
	named = regexp.MustCompile(`\s(?:--image|-i)[= ]["']?([^\s"']+)`)
	// copying is a command that copies etcd.
	copying = regexp.MustCompile(`talosctl\b[^\n|;]*\setcd\s+snapshot\b|talos-backup`)
	// asking is a command that asks whether a cluster is well.
	asking = regexp.MustCompile(`talosctl\b[^\n|;]*\shealth\b|minos doctor|kubectl\b[^\n|;]*\swait\b`)
	// returning is a command that takes an upgrade back.
	returning = regexp.MustCompile(`(?i)roll-?back`)
	// restarting is a command that applies a configuration in a way that Talos 1.14 does not have.
	restarting = regexp.MustCompile(`apply(?:-config)?\b[^\n|;]*\s(?:--mode|-m)[= ]["']?reboot\b`)
)

// A command is one of a file that upgrades something.
type command struct {
	place      facts.Place
	text       string
	kubernetes bool // and not Talos
}

// image is the image that it names; empty if it names none.
func (c command) image() string {
	if parts := named.FindStringSubmatch(c.text); parts != nil {
		return parts[1]
	}
	return ""
}

// commandsOf are the commands in scripts and workflows that upgrade. Pages show examples, and are left out.
func commandsOf(all *facts.Facts) []command {
	var found []command
	for _, file := range scripts(all) {
		for number, text := range joined(file) {
			if parts := upgrading.FindStringSubmatch(text); parts != nil {
				found = append(found, command{place: all.InTree(file, number+1), text: text, kubernetes: parts[1] != "upgrade"})
			}
		}
	}
	return found
}

// scripts are the files that may hold commands for Talos.
func scripts(all *facts.Facts) []*facts.File {
	return slices.DeleteFunc(slices.Clone(all.Files), func(file *facts.File) bool {
		page := file.Extension() == ".md" || file.Extension() == ".txt" || file.Extension() == ".rst" || file.Extension() == ".html"
		return page || !bytes.Contains(file.Text, []byte("talosctl")) && !bytes.Contains(file.Text, []byte("talhelper"))
	})
}

// joined are the lines of a file, with those that a backslash continues put into the first one. Comments are empty.
func joined(file *facts.File) []string {
	lines := file.Lines()
	for at := len(lines) - 2; at >= 0; at-- {
		if before, ok := strings.CutSuffix(strings.TrimRight(lines[at], "\r"), `\`); ok {
			lines[at], lines[at+1] = before+" "+strings.TrimSpace(lines[at+1]), ""
		}
	}
	for at, text := range lines {
		if strings.HasPrefix(strings.TrimSpace(text), "#") {
			lines[at] = ""
		}
	}
	return lines
}

// upgrades are the commands of a workflow that upgrade something.
func upgrades(workflow *facts.Workflow) []facts.Command {
	return slices.DeleteFunc(slices.Clone(workflow.Commands), func(command facts.Command) bool { return !upgrading.MatchString(command.Text) })
}

// does says whether any command of a workflow is of a kind.
func does(workflow *facts.Workflow, kind *regexp.Regexp) bool {
	return slices.ContainsFunc(workflow.Commands, func(command facts.Command) bool { return kind.MatchString(command.Text) })
}

// index is where a step stands in its list.
var index = regexp.MustCompile(`\[([0-9]+)\]`)

// parts are the lists of a job of GitLab, in the order in which they are done.
var parts = []string{".before_script[", ".script[", ".after_script["}

// precedes says whether one command of a workflow comes before another. Of two jobs it is taken to be so: which waits for which is
// written in many ways.
func precedes(first, second facts.Command) bool {
	if first.Job != second.Job {
		return true
	}
	rank := func(command facts.Command) int {
		const many = 10_000
		at, _ := strconv.Atoi(append(index.FindStringSubmatch(command.Path), "", "")[1])
		return many*slices.IndexFunc(parts, func(part string) bool { return strings.Contains(command.Path, part) }) + at
	}
	return rank(first) < rank(second)
}
