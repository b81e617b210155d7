// SPDX-License-Identifier: Apache-2.0

package talhelper_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/adopt/adopttest"
	"minos.dev/minos/adopt/patch"
	"minos.dev/minos/adopt/talhelper"
)

// program is the real talhelper.
const program = "../../bin/peers/talhelper"

// TestReadsAsTalhelper makes the machine configurations of every story with the real program, and expects the same ones of
// our reading.
func TestReadsAsTalhelper(t *testing.T) {
	if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) {
		t.Fatal("there is no bin/peers/talhelper: run make peers")
	}
	for _, story := range stories(t) {
		t.Run(story.Name, func(t *testing.T) {
			theirs := generate(t, story.Dir)
			source, _, err := talhelper.Read(story.Folder(t), talhelper.Options{})
			if err != nil {
				t.Fatal(err)
			}
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
		})
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
func generate(t *testing.T, dir string) map[string]*patch.Config {
	t.Helper()
	real, err := filepath.Abs(program)
	if err != nil {
		t.Fatal(err)
	}
	key, err := adopttest.Identity()
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
		made[strings.TrimSuffix(filepath.Base(file), ".yaml")] = config
	}
	return made
}

func byID(config *patch.Config) map[string]patch.Document {
	index := map[string]patch.Document{}
	for _, document := range config.Documents() {
		index[patch.ID(document)] = document
	}
	return index
}
