// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"minos.dev/minos/charts"
)

// TestReferenceIsCurrent holds the generated page of commands to what --help says.
func TestReferenceIsCurrent(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	words := &bytes.Buffer{}
	if code := run(t.Context(), []string{"--help"}, nil, words); code != 0 {
		t.Fatalf("exit %d", code)
	}
	if !strings.Contains(string(page), "\n## minos-operator\n\n```text\n"+words.String()+"```\n") {
		t.Errorf("the page has another --help: run make generate\n%s", words)
	}
}

// argument is a flag in the manifest by which the operator is installed.
var argument = regexp.MustCompile(`(?m)^ +- (--[a-z-]+=.*)$`)

// TestInstalledFlags reads the flags that the operator is installed with as it would itself.
func TestInstalledFlags(t *testing.T) {
	text, err := fs.ReadFile(charts.Operator, "minos/operator/operator.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var args []string
	for _, found := range argument.FindAllStringSubmatch(string(text), -1) {
		args = append(args, found[1])
	}
	read, err := parse(args, io.Discard)
	if err == nil {
		err = read.complete(nil)
	}
	if err != nil || len(read.options.Management) != 2 || read.options.SignerImage != "REGISTRY/minos-signer:VERSION" {
		t.Errorf("%v: %v", args, err)
	}
	for name, address := range map[string]string{"webhook": read.options.Webhook, "metrics": read.options.Metrics, "health": read.options.Health} {
		if !strings.Contains(string(text), "{name: "+name+", containerPort: "+strings.TrimPrefix(address, ":")+"}") {
			t.Errorf("it listens for %s at %s, and the manifest says otherwise", name, address)
		}
	}
}
