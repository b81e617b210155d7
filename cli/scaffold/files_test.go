// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/declarations"
)

// facts are the same in every test.
var facts = Facts{Folder: "home", Owner: "jo", Date: "2026-01-02", Minos: "v1.2.3"}

// flags writes answers as a command line has them: "profile=edge cni=none". Blanks in a value are underscores.
func flags(text string) map[string]string {
	given := map[string]string{}
	for _, word := range strings.Fields(text) {
		name, value, _ := strings.Cut(word, "=")
		given[name] = strings.ReplaceAll(value, "_", " ")
	}
	return given
}

// made answers by flags and the profile, and makes the files.
func made(t testing.TB, text string) (Answers, map[string]string) {
	t.Helper()
	answers, err := Fill(facts, flags(text), Presets)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	files, err := Files(answers)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	texts := map[string]string{}
	for _, file := range files {
		texts[file.Name] = string(file.Text)
	}
	return answers, texts
}

// objects reads the declarations of a folder as 'minos check' would, and wants nothing wrong.
func objects(t testing.TB, files map[string]string) []load.Object {
	t.Helper()
	reader, err := reader()
	if err != nil {
		t.Fatal(err)
	}
	var documents []*load.Document
	var problems []load.Problem
	for _, name := range []string{"cluster.yaml", "pools.yaml", "roles.yaml"} {
		found, wrong := reader.Read(name, []byte(files[name]))
		documents, problems = append(documents, found...), append(problems, wrong...)
	}
	found, err := declarations.References(documents)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range append(problems, found...) {
		t.Error(problem)
	}
	var all []load.Object
	for _, document := range documents {
		all = append(all, document.Object)
	}
	return all
}

// lines are the releases of Talos for which folders are made.
var lines = []string{"v1.12", "v1.13", "v1.14"}

// variations are command lines: every profile with every line, alone and with every answer that is one of few.
func variations() []string {
	more := []string{
		"", "arch=arm64", "extensions=none", "extensions=zfs,drbd", "worker=a=192.0.2.77", "endpoint=api.example.com", "upgrades=canary",
		"platform=virtual extensions=qemu-guest-agent", "workloads=true worker=none storage=longhorn", "storage=linstor workloads=true",
		"topology=three storage=mayastor cni=none", "control-plane=a=2001:db8::1,b=2001:db8::2,c=2001:db8::3 worker=d=2001:db8::4 endpoint=2001:db8::9 vip-link=eth0",
		"backup=every_night:_to_a_bucket,_by_#hand", "owner='quoted'_&_\"more\":_x", "backup=none backup-reason=a_toy",
	}
	for _, q := range Questions() {
		for _, option := range q.Options {
			if q.Name != "profile" {
				more = append(more, q.Name+"="+option)
			}
		}
	}
	var all []string
	for _, profile := range Profiles() {
		for _, line := range lines {
			for _, words := range more {
				all = append(all, strings.TrimSpace(fmt.Sprintf("profile=%s talos=%s %s", profile, line, words)))
			}
		}
	}
	return all
}

// TestEveryFolderIsRight makes a folder for every variation.
func TestEveryFolderIsRight(t *testing.T) {
	refused := map[string]int{}
	folders := 0
	for _, words := range variations() {
		answers, err := Fill(facts, flags(words), Presets)
		if err != nil {
			refused[flags(words)["profile"]]++
			continue
		}
		folders++
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			files, err := Files(answers)
			if err != nil {
				t.Fatal(err)
			}
			texts := map[string]string{}
			for _, file := range files {
				texts[file.Name] = string(file.Text)
				checkText(t, file)
			}
			checkCluster(t, answers, objects(t, texts))
		})
	}
	// A rule that refuses too much would make this test empty. TestRefused says what is refused and why.
	want := map[string]int{"homelab": 3 * 1, "production": 3 * 4, "edge": 3 * 2, "hosted": 3 * 19}
	if diff := cmp.Diff(want, refused); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	if folders < 400 {
		t.Errorf("only %d folders were made", folders)
	}
}

// checkText looks for what a template leaves behind.
func checkText(t *testing.T, file File) {
	t.Helper()
	for _, mark := range []string{"<no value>", "[[", "]]", "\t", " \n", "\n\n\n", "%!"} {
		if bytes.Contains(file.Text, []byte(mark)) {
			t.Errorf("%s holds %q:\n%s", file.Name, mark, file.Text)
		}
	}
	if !bytes.HasSuffix(file.Text, []byte("\n")) || bytes.HasSuffix(file.Text, []byte("\n\n")) {
		t.Errorf("%s does not end with one newline", file.Name)
	}
	if strings.HasSuffix(file.Name, ".yaml") {
		decoder := yaml.NewDecoder(bytes.NewReader(file.Text))
		for document := any(nil); ; {
			if err := decoder.Decode(&document); err != nil {
				if err.Error() != "EOF" {
					t.Errorf("%s: %v", file.Name, err)
				}
				return
			}
		}
	}
}

// checkCluster wants the ten decisions, in their order, each with who and when.
func checkCluster(t *testing.T, a Answers, all []load.Object) {
	t.Helper()
	for _, object := range all {
		cluster, ok := object.(*api.TalosCluster)
		if !ok {
			continue
		}
		var about []api.DecisionAbout
		for _, decision := range cluster.Spec.Decisions {
			about = append(about, decision.About)
			if decision.Owner != a.Owner || decision.Date != a.Date || decision.Answer == "" || decision.Reason == "" {
				t.Errorf("a decision is not whole: %+v", decision)
			}
		}
		want := []api.DecisionAbout{
			api.DecisionPlatform, api.DecisionTopology, api.DecisionConfiguration, api.DecisionCNI, api.DecisionStorage,
			api.DecisionExtensions, api.DecisionSecrets, api.DecisionUpgrades, api.DecisionBackup, api.DecisionEndpoint,
		}
		if diff := cmp.Diff(want, about); diff != "" {
			t.Errorf("decisions (-want +got):\n%s", diff)
		}
		return
	}
	t.Error("there is no cluster")
}
