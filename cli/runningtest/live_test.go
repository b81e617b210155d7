// SPDX-License-Identifier: Apache-2.0

package runningtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	clientconfig "github.com/siderolabs/talos/pkg/machinery/client/config"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/cli"
	"minos.dev/minos/gather"
	"minos.dev/minos/gather/live"
	"minos.dev/minos/sim/machine"
	"minos.dev/minos/talos/redact"
)

// machines reads a talosconfig.
func machines(t *testing.T, path string) *clientconfig.Context {
	t.Helper()
	config, err := clientconfig.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return config.Contexts[config.Context]
}

// read asks the cluster of the lab.
func read(t *testing.T, options live.Options) ([]*facts.File, []string) {
	t.Helper()
	options.Kubernetes = shared.cluster.Plane.Config()
	files, unread, err := live.Read(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	return files, unread
}

// TestLiveIsSaved wants a cluster that is asked and its saved files to lead to the same facts, and no secret to be in either.
func TestLiveIsSaved(t *testing.T) {
	s := play(t, story{fleet: mixed})
	files, _ := read(t, live.Options{Talos: machines(t, s.talosconfig())})
	asked, err := facts.Read(facts.Source{Live: files})
	if err != nil {
		t.Fatal(err)
	}
	if len(asked.Live.Nodes) != 3 || len(asked.Live.Resources[facts.LiveMachineConfigs]) != 3 || len(asked.Live.Resources[facts.LiveMachineStatuses]) != 3 {
		t.Fatalf("not all was read: %d Nodes, %v", len(asked.Live.Nodes), asked.Live.Readings)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "live"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if err := os.WriteFile(filepath.Join(dir, file.Path), file.Text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	source, err := gather.Folder(t.Context(), dir, gather.Options{})
	if err != nil {
		t.Fatal(err)
	}
	saved, err := facts.Read(source)
	if err != nil {
		t.Fatal(err)
	}
	samePath := cmp.Comparer(func(a, b *facts.File) bool { return a.Path == b.Path })
	if diff := cmp.Diff(asked.Live, saved.Live, samePath, cmpopts.IgnoreUnexported(facts.LiveFacts{})); diff != "" {
		t.Errorf("what was asked is not what was saved: %s", diff)
	}
	s.hidden(files)
}

// hidden wants no secret of the cluster or of its machines in what was read.
func (s *scene) hidden(files []*facts.File) {
	s.t.Helper()
	bundle, err := shared.cluster.Secrets.Marshal()
	if err != nil {
		s.t.Fatal(err)
	}
	secrets := append(redact.Secrets(bundle), "simulated-authkey")
	for _, made := range s.configs {
		secrets = append(secrets, redact.Secrets(made)...)
	}
	if len(secrets) < 10 {
		s.t.Fatalf("only %d secrets are known", len(secrets))
	}
	for _, file := range files {
		for _, secret := range secrets {
			if strings.Contains(string(file.Text), secret) {
				s.t.Errorf("%s holds a secret: %.4s…", file.Path, secret)
			}
		}
	}
}

// A report is what is compared of two checks.
type report struct {
	Findings []*rule.Outcome `json:"findings"`
	Unknown  []*rule.Outcome `json:"unknown"`
}

// TestCheckLive wants the check of a folder together with a cluster to find what it finds with the saved files in the folder.
func TestCheckLive(t *testing.T) {
	s := play(t, story{fleet: computeOnly, breaks: withoutModule, stuck: []string{"workers-2"}})
	const only = "EXT,UPG-006,UPG-014,OPS-005,PLT-012,PLT-013,CPL-015"
	asked := s.run("check", s.fleet, "--live", "--talosconfig", s.talosconfig(), "--save", filepath.Join(s.fleet, "live"), "--only", only, "-o", "json")
	if asked.code != cli.ExitFindings || !strings.Contains(asked.stdout, "workers-2 is in the stage booting") {
		t.Errorf("exit code %d: %s%s", asked.code, asked.stdout, asked.stderr)
	}
	saved := s.offline("check", s.fleet, "--only", only, "-o", "json")
	if diff := cmp.Diff(parsed(t, asked.stdout), parsed(t, saved.stdout)); diff != "" {
		t.Error(diff)
	}
	t.Run("what was saved before does not count", func(t *testing.T) {
		again := s.run("check", s.fleet, "--live", "--only", "EXT-015", "--unknown")
		if !strings.Contains(again.stdout, "EXT-015 unknown: the stages of machines were not saved") {
			t.Errorf("%s%s", again.stdout, again.stderr)
		}
	})
	t.Run("a folder of somebody else", func(t *testing.T) {
		refused := s.run("check", s.fleet, "--live", "--save", s.fleet)
		if refused.code != cli.ExitError || !strings.Contains(refused.stderr, "holds something else already: fleet.yaml") {
			t.Errorf("%+v", refused)
		}
	})
}

// parsed is what a check found.
func parsed(t *testing.T, text string) report {
	t.Helper()
	var found report
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if len(found.Findings) == 0 {
		t.Errorf("nothing was found: %s", text)
	}
	return found
}

// TestUnread wants what could not be read to be said, and rules not to pass because of it.
func TestUnread(t *testing.T) {
	s := play(t, story{fleet: computeOnly})
	t.Run("a machine", func(t *testing.T) {
		s.machines["workers-1"].Set(func(knobs *machine.Knobs) { knobs.NoAPI = true })
		ended := s.run("check", s.fleet, "--live", "--talosconfig", s.talosconfig(), "--only", "EXT-015,OPS-005", "--unknown")
		for _, word := range []string{"EXT-015 unknown: could not read MachineStatuses, Services of workers-1 (", "OPS-005 unknown: could not read Diagnostics, Services of workers-1 ("} {
			if !strings.Contains(ended.stdout, word) {
				t.Errorf("there is no %q in:\n%s%s", word, ended.stdout, ended.stderr)
			}
		}
		s.machines["workers-1"].Set(func(knobs *machine.Knobs) { knobs.NoAPI = false })
	})
	t.Run("the API server", func(t *testing.T) {
		config := shared.cluster.Plane.Config()
		config.Impersonate.UserName = "nobody-in-particular"
		files, unread, err := live.Read(t.Context(), live.Options{Kubernetes: config})
		if err != nil || len(unread) != 1 || !strings.Contains(unread[0], "could not read Nodes of the cluster") || !strings.Contains(unread[0], "forbidden") {
			t.Fatalf("%q, %v", unread, err)
		}
		all, err := facts.Read(facts.Source{Live: files})
		if err != nil {
			t.Fatal(err)
		}
		if missing := all.Live.Missing([]string{facts.LiveNodes}); len(missing) != 1 || len(all.Live.Nodes) != 0 {
			t.Errorf("%v", missing)
		}
	})
}

// TestOnlyNodes wants no more of the API server than to list Nodes: who may do nothing else can use it. They come in pages.
func TestOnlyNodes(t *testing.T) {
	const many = 230
	rights := shared.nodes.RbacV1()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "only-nodes"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"list"}}}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "only-nodes"}, Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: "reviewer"}},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "only-nodes"},
	}
	if _, err := rights.ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := rights.ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s := &scene{t: t, machines: map[string]*machine.Machine{}}
	for at := range many {
		name := fmt.Sprintf("bulk-%03d", at)
		if _, err := shared.nodes.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		s.machines[name] = nil
	}
	t.Cleanup(s.forget)
	config := shared.cluster.Plane.Config()
	config.Impersonate.UserName = "reviewer"
	config.QPS = -1
	files, unread, err := live.Read(t.Context(), live.Options{Kubernetes: config})
	if err != nil || len(unread) > 0 {
		t.Fatalf("%v, %v", unread, err)
	}
	all, err := facts.Read(facts.Source{Live: files})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 3 || len(all.Live.Nodes) != many {
		t.Errorf("%d files with %d Nodes", len(files), len(all.Live.Nodes))
	}
}
