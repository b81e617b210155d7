// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBill holds the bill of a program to what the go command reads from that program, and to the form.
func TestBill(t *testing.T) {
	o := order{version: "v1.2.3", commit: "0123abc", made: commit, tree: "..", out: t.TempDir(), words: io.Discard}
	if err := o.make(t.Context(), small); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(o.out, small.folder(), "minos-signer")
	text, err := os.ReadFile(filepath.Join(o.out, "minos-signer-v1.2.3-"+small.folder()+billSuffix))
	if err != nil {
		t.Fatal(err)
	}
	if said, err := exec.CommandContext(t.Context(), binary, "version").Output(); err != nil || string(said) != "minos-signer v1.2.3\n" {
		t.Errorf("it says %q: %v", said, err)
	}
	var read bill
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "version", "-m", binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	want, found := []string{"stdlib " + strings.TrimPrefix(runtime.Version(), "go") + " "}, []string{}
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); words[0] == "dep" {
			want = append(want, strings.Join(words[1:], " "))
		}
	}
	for _, one := range read.Components {
		sum := ""
		if len(one.Properties) == 1 {
			sum = one.Properties[0].Value
		}
		found = append(found, one.Name+" "+one.Version+" "+sum)
		if len(one.Licences) == 0 {
			t.Errorf("nobody knows the licence of %s", one.Name)
		}
	}
	slices.Sort(want)
	slices.Sort(found)
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("-program +bill:\n%s", diff)
	}
	if len(found) < 5 {
		t.Errorf("only %d parts: this test has lost its object", len(found))
	}
	checkForm(t, text, read)
	sum, err := sumOf(binary)
	if hashes := read.Metadata.Component.Hashes; err != nil || len(hashes) != 1 || hashes[0].Content != sum {
		t.Errorf("the bill is of another program: %v: %v", hashes, err)
	}
}

// address is a package URL of a module, with its version.
var address = regexp.MustCompile(`^pkg:golang/[A-Za-z0-9._~/-]+@[A-Za-z0-9._%-]+(#cmd/[a-z-]+)?$`)

// checkForm holds a bill to what CycloneDX 1.5 requires of one, and to be the same tomorrow.
func checkForm(t *testing.T, text []byte, read bill) {
	t.Helper()
	if read.Format != "CycloneDX" || read.Form != "1.5" || read.Version != 1 {
		t.Errorf("%s %s %d", read.Format, read.Form, read.Version)
	}
	for _, name := range []string{"serialNumber", "timestamp"} {
		if strings.Contains(string(text), `"`+name+`"`) {
			t.Errorf("%s makes two bills of the same program differ", name)
		}
	}
	program := read.Metadata.Component
	if program.Type != "application" || program.Name != "minos-signer" || program.Version != "v1.2.3" {
		t.Errorf("%+v", program)
	}
	seen := map[string]bool{}
	for _, one := range append(read.Components, program) {
		if one.Type == "" || one.Name == "" || one.Version == "" || !address.MatchString(one.URL) || seen[one.Reference] {
			t.Errorf("%+v", one)
		}
		seen[one.Reference] = true
	}
}

// TestLicences tells licences apart by their words.
func TestLicences(t *testing.T) {
	own, err := os.ReadFile("../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	const mit = "Permission is hereby granted, free of charge, to any person obtaining a copy …\n\nThe above copyright notice and this permission\nnotice shall be …"
	const two = "Redistribution and use in source and binary forms, with or without …"
	for text, want := range map[string]string{
		string(own):           "Apache-2.0",
		mit:                   "MIT",
		two:                   "BSD-2-Clause",
		mit + "\n\n" + two:    "BSD-2-Clause MIT",
		"All rights reserved": "",
		two + " … to endorse or promote products derived …": "BSD-3-Clause",
	} {
		if got := strings.Join(licencesOf(text), " "); got != want {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
}
