// SPDX-License-Identifier: Apache-2.0

package talhelper_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/adopt"
	"minos.dev/minos/adopt/adopttest"
	"minos.dev/minos/adopt/patch"
	"minos.dev/minos/adopt/talhelper"
	"minos.dev/minos/sops"
	"minos.dev/minos/talos/compare"
)

// program is the real talhelper.
const program = "../../bin/peers/talhelper"

// TestReadsAsTalhelper makes the machine configurations of every story with the real program, and expects the same ones of
// our reading: every document and every value of it, without exception.
func TestReadsAsTalhelper(t *testing.T) {
	if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) {
		t.Fatal("there is no bin/peers/talhelper: run make peers")
	}
	key, err := adopttest.Identity()
	if err != nil {
		t.Fatal(err)
	}
	for _, story := range stories(t) {
		t.Run(story.Name, func(t *testing.T) {
			source, _, err := talhelper.Read(story.Folder(t), adopt.Given{})
			if err != nil {
				t.Fatal(err)
			}
			same(t, generate(t, story.Dir, key), source)
		})
	}
}

// TestReadsTheirExample does the same with the example that talhelper comes with, which has something of everything.
func TestReadsTheirExample(t *testing.T) {
	find := exec.Command("go", "list", "-modfile=../../go.peers.mod", "-m", "-f", "{{.Dir}}", "github.com/budimanjojo/talhelper/v3")
	found, err := find.Output()
	if err != nil || strings.TrimSpace(string(found)) == "" {
		t.Fatalf("talhelper's module is not there: run make peers (%v)", err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(strings.TrimSpace(string(found)), "example"))); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "key.txt"))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := age.ParseIdentities(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	source, _, err := talhelper.Read(&adopt.Folder{FS: os.DirFS(dir), Decrypt: func(text []byte) ([]byte, bool, error) {
		if !sops.Encrypted(text) {
			return text, false, nil
		}
		plain, err := sops.Decrypt(text, keys...)
		return plain, true, err
	}}, adopt.Given{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, generate(t, dir, keys[0].(*age.X25519Identity)), source)
	result, err := adopt.Convert(source, adopt.Options{Plaintext: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Proof.Differences) > 0 {
		t.Errorf("ours differs: %v", result.Proof.Differences)
	}
}

// same expects the real program and our reading to have made the same.
func same(t *testing.T, theirs map[string]*patch.Config, source *adopt.Source) {
	t.Helper()
	for _, machine := range source.Machines {
		file := find(theirs, machine.Name)
		if file == nil {
			file = find(theirs, strings.TrimRight(machine.Name, "-0123456789")) // one file for several machines
		}
		if file == nil {
			t.Errorf("talhelper has no machine %s", machine.Name)
			continue
		}
		if diff := cmp.Diff(byID(file), byID(machine.Config)); diff != "" {
			t.Errorf("machine %s, talhelper's - and ours +:\n%s", machine.Name, diff)
		}
	}
}

// find returns the configuration of a machine, whose file is named after the cluster and the machine.
func find(made map[string]*patch.Config, name string) *patch.Config {
	for file, config := range made {
		if strings.HasSuffix(file, "-"+name) {
			return config
		}
	}
	return nil
}

// generate runs the real program and returns what it writes, by the names of its files.
func generate(t *testing.T, dir string, key *age.X25519Identity) map[string]*patch.Config {
	t.Helper()
	real, err := filepath.Abs(program)
	if err != nil {
		t.Fatal(err)
	}
	config := "talconfig.yaml"
	if _, err := os.Stat(filepath.Join(dir, config)); err != nil {
		config = "talconfig.yml"
	}
	out := filepath.Join(t.TempDir(), "out")
	run := exec.Command(real, "genconfig", "--offline-mode", "--no-gitignore", "-c", config, "-o", out)
	run.Dir = dir
	run.Env = append(os.Environ(), "SOPS_AGE_KEY="+key.String())
	if text, err := run.CombinedOutput(); err != nil {
		t.Fatalf("talhelper: %v\n%s", err, text)
	}
	files, err := filepath.Glob(filepath.Join(out, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]*patch.Config{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		config, err := patch.Load(text) // as the released machinery writes it
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		asReleased(t, text, config)
		made[strings.TrimSuffix(filepath.Base(file), ".yaml")] = config
	}
	return made
}

// asReleased expects the machinery of talhelper, a pre-release of 1.14, to write what that of the release writes, value by
// value. For Talos up to 1.13 there is no difference between the two; should a later one bring any, it belongs here, with its
// path and its reason.
func asReleased(t *testing.T, text []byte, config *patch.Config) {
	t.Helper()
	changes, err := compare.Configs(text, config.Text(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		t.Errorf("talhelper writes %s %s in its own way", change.Document, change.Path)
	}
}

func byID(config *patch.Config) map[string]patch.Document {
	index := map[string]patch.Document{}
	for _, document := range config.Documents() {
		index[patch.ID(document)] = document
	}
	return index
}
