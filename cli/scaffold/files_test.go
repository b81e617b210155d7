// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check"
	"minos.dev/minos/talos"
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
	found, err := check.References(documents)
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

// resolved are the roles of pools, by the name of the pool, with what they extend folded in.
func resolved(t testing.TB, all []load.Object) map[string]*api.NodeRole {
	t.Helper()
	var declared []*api.NodeRole
	for _, object := range all {
		if role, ok := object.(*api.NodeRole); ok {
			declared = append(declared, role)
		}
	}
	known, err := talos.NewRoles(declared...)
	if err != nil {
		t.Fatal(err)
	}
	roles := map[string]*api.NodeRole{}
	for _, object := range all {
		if pool, ok := object.(*api.NodePool); ok {
			if roles[pool.Name], err = known.Resolve(pool.Spec.Role); err != nil {
				t.Fatal(err)
			}
		}
	}
	return roles
}

// TestRolesHaveWhatTheyNeed looks at what machines get, whichever role it comes from.
func TestRolesHaveWhatTheyNeed(t *testing.T) {
	type role struct {
		Extensions, Modules []string
		Sysctls, Labels     map[string]string
	}
	micro := []string{"amd-ucode", "intel-ucode"}
	tests := map[string]map[string]role{
		"profile=homelab extensions=none storage=none": {"home-plane": {}, "home-workers": {}},
		"profile=homelab arch=arm64 storage=none":      {"home-plane": {}, "home-workers": {}},
		"profile=homelab storage=none":                 {"home-plane": {Extensions: micro}, "home-workers": {Extensions: micro}},
		"profile=homelab extensions=none storage=longhorn": { // where workloads run, volumes are
			"home-plane":   {Extensions: []string{"iscsi-tools", "util-linux-tools"}},
			"home-workers": {Extensions: []string{"iscsi-tools", "util-linux-tools"}},
		},
		"profile=production": { // and nowhere else
			"home-plane":   {Extensions: micro},
			"home-workers": {Extensions: []string{"amd-ucode", "intel-ucode", "iscsi-tools", "util-linux-tools"}},
		},
		"profile=production extensions=none storage=mayastor": {
			"home-plane": {},
			"home-workers": {
				Modules: []string{"nvme_tcp"}, Sysctls: map[string]string{"vm.nr_hugepages": "1024"},
				Labels: map[string]string{"openebs.io/engine": "mayastor"},
			},
		},
		"profile=production extensions=none storage=nfs": {"home-plane": {}, "home-workers": {Extensions: []string{"nfs-utils"}}},
		"profile=production extensions=none storage=linstor workloads=true": {
			"home-plane":   {Extensions: []string{"drbd", "zfs"}, Modules: []string{"drbd", "zfs"}},
			"home-workers": {Extensions: []string{"drbd", "spin", "zfs"}, Modules: []string{"drbd", "zfs"}},
		},
		// A driver belongs to the machines that work, and an extension's module is loaded.
		"profile=production storage=none extensions=zfs,siderolabs/intel-ucode,zfs": {
			"home-plane":   {Extensions: []string{"intel-ucode"}},
			"home-workers": {Extensions: []string{"intel-ucode", "zfs"}, Modules: []string{"zfs"}},
		},
		// Unless there are no others.
		"profile=edge storage=none extensions=i915": {"home-plane": {Extensions: []string{"i915"}}},
		"profile=hosted storage=longhorn":           {"home-workers": {Extensions: []string{"iscsi-tools", "util-linux-tools"}}},
	}
	for words, want := range tests {
		t.Run(words, func(t *testing.T) {
			_, files := made(t, words)
			got := map[string]role{}
			for pool, found := range resolved(t, objects(t, files)) {
				one := role{Sysctls: found.Spec.Sysctls, Labels: found.Spec.Labels, Extensions: slices.Sorted(slices.Values(found.Spec.Extensions))}
				for _, module := range found.Spec.KernelModules {
					one.Modules = append(one.Modules, module.Name)
				}
				got[pool] = one
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
