// SPDX-License-Identifier: Apache-2.0

package gather_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/gather"
)

// planted is a secret that is found. minos:not-secret: made for this test.
const planted = "machine:\n  token: k3v9dz.7h2m4x8qk1wz0p5c\n"

// states are what Git says of the files that were gathered.
func states(source facts.Source) map[string]string {
	all := map[string]string{}
	for _, file := range source.Files {
		state := "neither"
		switch {
		case file.Tracked:
			state = "tracked"
		case file.Ignored:
			state = "ignored"
		}
		all[file.Path] = state
	}
	return all
}

func TestFiles(t *testing.T) {
	r := newRepo(t)
	r.write(".gitignore", "talosconfig\nout/\n")
	r.write("tracked.yaml", "a: 1\n")
	r.write("large.bin", strings.Repeat("x", 5<<20))
	r.write("picture.png", "\x00\x01")
	r.commit("deep/below/file.yaml", "a: 1\n")
	r.write("talosconfig", "context: x\n")
	r.write("out/made.yaml", "a: 1\n")
	r.write("out/program.o", "a program\n")
	r.write("new.yaml", "a: 1\n")
	r.write("node_modules/a/b.yaml", "a: 1\n")
	if err := os.Symlink("/etc/passwd", filepath.Join(r.dir, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	r.git("init", "--quiet", "other")
	r.write("other/worker.yaml", planted)
	want := map[string]string{
		".gitignore": "tracked", "tracked.yaml": "tracked", "deep/below/file.yaml": "tracked", "large.bin": "tracked", "picture.png": "tracked",
		"talosconfig": "ignored", "out/made.yaml": "ignored", "out/program.o": "ignored", "new.yaml": "neither",
	}
	source := r.gather()
	if diff := cmp.Diff(want, states(source)); diff != "" {
		t.Error(diff)
	}
	for _, file := range source.Files {
		if read := file.Text != nil; read == (file.Path == "large.bin" || file.Path == "picture.png" || file.Path == "out/program.o") {
			t.Errorf("%s: read %t", file.Path, read)
		}
	}
}

func TestWithoutRepository(t *testing.T) {
	newRepo(t) // for its settings
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("a: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := gather.Folder(t.Context(), dir, gather.Options{})
	if err != nil || source.Git || len(source.Files) != 1 || source.HistoryUnknown != "the folder is not in a Git repository" {
		t.Errorf("%v %+v", err, source)
	}
	t.Setenv("PATH", t.TempDir())
	source, err = gather.Folder(t.Context(), dir, gather.Options{})
	if err != nil || source.Git || !strings.HasPrefix(source.HistoryUnknown, "the program git is not installed") {
		t.Errorf("%v %q", err, source.HistoryUnknown)
	}
	if _, err := gather.Folder(t.Context(), filepath.Join(dir, "none"), gather.Options{}); err == nil {
		t.Error("no error for a folder that is not there")
	}
}

func TestOneFile(t *testing.T) {
	r := newRepo(t)
	r.commit("a.yaml", planted)
	r.commit("b.yaml", planted)
	source, err := gather.Folder(t.Context(), filepath.Join(r.dir, "b.yaml"), gather.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"now b.yaml: the token by which machines join"}, told(source)); diff != "" {
		t.Error(diff)
	}
}

func TestFolderOfRepository(t *testing.T) {
	r := newRepo(t)
	r.commit("outside.yaml", strings.ReplaceAll(planted, "k3", "k4"))
	r.commit("outside.yaml", "clean\n")
	r.commit("fleet/worker.yaml", planted)
	r.commit("fleet/worker.yaml", "clean\n")
	source, err := gather.Folder(t.Context(), filepath.Join(r.dir, "fleet"), gather.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"past worker.yaml: the token by which machines join"}, told(source)); diff != "" {
		t.Error(diff)
	}
	if leak := source.PastLeaks[0]; leak.Commit != r.git("rev-parse", "HEAD~1")[:12] || !strings.HasSuffix(leak.Evidence, "until commit "+r.git("rev-parse", "HEAD")[:12]) {
		t.Errorf("%+v", leak)
	}
}

func TestShallowAndPartial(t *testing.T) {
	r := newRepo(t)
	r.commit("worker.yaml", planted)
	r.commit("worker.yaml", "clean\n")
	shallow, partial := &repo{t, t.TempDir()}, &repo{t, t.TempDir()}
	r.git("clone", "--quiet", "--depth=1", "file://"+r.dir, shallow.dir)
	if source := shallow.gather(); !strings.HasPrefix(source.HistoryUnknown, "the clone is shallow") || len(source.PastLeaks) > 0 {
		t.Errorf("%q %v", source.HistoryUnknown, source.PastLeaks)
	}
	r.git("config", "uploadpack.allowFilter", "true")
	r.git("clone", "--quiet", "--filter=blob:none", "file://"+r.dir, partial.dir)
	if source := partial.gather(); source.HistoryUnknown != "the clone is partial: 1 versions of files are not here, and nothing is fetched" {
		t.Errorf("%q", source.HistoryUnknown)
	}
}

func TestSubmoduleAndWorktree(t *testing.T) {
	inner, r := newRepo(t), newRepo(t)
	inner.commit("worker.yaml", planted)
	inner.commit("worker.yaml", "clean\n")
	inner.commit("bare.yaml", strings.ReplaceAll(planted, "k3", "k4"))
	r.commit("README.md", "clean\n")
	r.git("submodule", "--quiet", "add", "file://"+inner.dir, "below/inner")
	r.git("commit", "--quiet", "--message", "submodule")
	r.git("worktree", "add", "--quiet", "-b", "side", filepath.Join(r.dir, "tree"))
	want := []string{"now below/inner/bare.yaml: the token by which machines join", "past below/inner/worker.yaml: the token by which machines join"}
	if diff := cmp.Diff(want, told(r.gather())); diff != "" {
		t.Error(diff)
	}
	side := &repo{t, filepath.Join(r.dir, "tree")}
	side.commit("worker.yaml", planted)
	if diff := cmp.Diff([]string{"now worker.yaml: the token by which machines join"}, told(side.gather())); diff != "" {
		t.Error(diff)
	}
}

// TestBrokenSubmodule tells a submodule that cannot be read from one that was never fetched: its secrets would be passed over.
func TestBrokenSubmodule(t *testing.T) {
	inner, r := newRepo(t), newRepo(t)
	inner.commit("worker.yaml", planted)
	r.git("submodule", "--quiet", "add", "file://"+inner.dir, "below/inner")
	r.git("commit", "--quiet", "--message", "submodule")
	r.write("below/inner/.git", "gitdir: ../nowhere\n")
	remarks := r.gather().Remarks
	if len(remarks) != 1 || !strings.HasPrefix(remarks[0], "below/inner is a submodule of which nothing is known, and its secrets were not looked for: ") {
		t.Errorf("got %q", remarks)
	}
	if err := os.RemoveAll(filepath.Join(r.dir, "below/inner")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(r.dir, "below/inner"), 0o700); err != nil {
		t.Fatal(err)
	}
	if remarks := r.gather().Remarks; len(remarks) > 0 {
		t.Errorf("one that was never fetched: %q", remarks)
	}
}

// TestHostile has a repository name programs in every setting by which Git runs one, and expects none of them to run.
func TestHostile(t *testing.T) {
	r := newRepo(t)
	canary := filepath.Join(t.TempDir(), "canary")
	program := filepath.Join(r.dir, "program")
	r.write("program", "#!/bin/sh\necho \"$0 $*\" >> "+canary+"\nexit 1\n")
	if err := os.Chmod(program, 0o700); err != nil {
		t.Fatal(err)
	}
	r.write(".gitattributes", "* filter=evil diff=evil merge=evil\n")
	r.commit("worker.yaml", planted)
	r.commit("worker.yaml", "clean\n")
	r.commit("below/worker.yaml", planted)
	r.commit("other.yaml", strings.ReplaceAll(planted, "k3", "k4"))
	r.commit("other.yaml", "clean\n")
	for _, setting := range []string{
		"core.fsmonitor", "core.sshCommand", "core.gitProxy", "core.askPass", "core.editor", "core.pager", "core.alternateRefsCommand", "credential.helper", "gpg.program", "diff.external",
		"diff.evil.textconv", "diff.evil.command", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "merge.evil.driver", "remote.origin.uploadpack", "remote.origin.receivepack",
		"uploadpack.packObjectsHook", "sequence.editor", "alias.rev-list", "alias.ls-files", "pager.rev-list", "pager.ls-files", "pager.cat-file", "pager.diff-tree", "remote.origin.proxy",
	} {
		r.git("config", setting, program)
	}
	r.git("config", "core.hooksPath", r.dir)
	r.git("config", "log.showSignature", "true")
	r.git("config", "remote.origin.url", "ext::"+program+" %S")
	r.git("config", "remote.origin.promisor", "true")
	r.git("config", "remote.origin.partialclonefilter", "blob:none")
	r.git("config", "extensions.partialClone", "origin")
	r.git("config", "core.repositoryFormatVersion", "1")
	r.git("config", "protocol.ext.allow", "always")
	for _, hook := range []string{"post-index-change", "reference-transaction", "fsmonitor-watchman", "pre-auto-gc"} {
		if err := os.Symlink(program, filepath.Join(r.dir, hook)); err != nil {
			t.Fatal(err)
		}
	}
	for _, missing := range []string{"HEAD~3:worker.yaml", "HEAD:below"} { // they would have to be fetched
		name := r.git("rev-parse", missing)
		if err := os.Remove(filepath.Join(r.dir, ".git", "objects", name[:2], name[2:])); err != nil {
			t.Fatal(err)
		}
	}
	r.write("worker.yaml", "changed\n")          // so that a filter would be asked
	if err := os.RemoveAll(canary); err != nil { // setting all this up may have run it
		t.Fatal(err)
	}
	source := r.gather()
	if text, err := os.ReadFile(canary); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the repository ran a program: %s %v", text, err)
	}
	if !strings.HasPrefix(source.HistoryUnknown, "the clone is partial") || len(source.PastLeaks) != 1 || source.PastLeaks[0].File != "other.yaml" {
		t.Errorf("%q %+v", source.HistoryUnknown, source.PastLeaks)
	}
}

// TestInHook is run by Git itself, which tells its hooks where the repository is: that must not lead elsewhere.
func TestInHook(t *testing.T) {
	other, r := newRepo(t), newRepo(t)
	other.commit("other.yaml", planted)
	r.commit("worker.yaml", planted)
	t.Setenv("GIT_DIR", filepath.Join(other.dir, ".git"))
	t.Setenv("GIT_INDEX_FILE", filepath.Join(other.dir, ".git", "index"))
	if diff := cmp.Diff([]string{"now worker.yaml: the token by which machines join"}, told(r.gather())); diff != "" {
		t.Error(diff)
	}
}

func TestStopped(t *testing.T) {
	r := newRepo(t)
	r.commit("worker.yaml", planted)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := gather.Folder(ctx, r.dir, gather.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestProgress(t *testing.T) {
	r := newRepo(t)
	for at := range 600 {
		r.write(fmt.Sprintf("%d.yaml", at), fmt.Sprintf("a: %d\n", at))
	}
	r.commit("last.yaml", "a: last\n")
	calls := make(chan [2]int, 100)
	if _, err := gather.Folder(t.Context(), r.dir, gather.Options{Progress: func(done, total int) { calls <- [2]int{done, total} }}); err != nil {
		t.Fatal(err)
	}
	close(calls)
	last := [2]int{}
	for call := range calls {
		last = call
	}
	if last != [2]int{601, 601} {
		t.Errorf("it ended with %v", last)
	}
}

// TestForeign takes folders of other tools for declarations, without any key.
func TestForeign(t *testing.T) {
	r := newRepo(t)
	m := newMaterial(t)
	r.write("talos/talconfig.yaml", "clusterName: shop\ntalosVersion: v1.13.0\nkubernetesVersion: v1.34.6\nendpoint: https://10.60.0.10:6443\nnodes:\n"+
		"  - {hostname: cp-1, ipAddress: 10.60.0.11, controlPlane: true, installDisk: /dev/sda}\n  - {hostname: w-1, ipAddress: 10.60.0.12, controlPlane: false, installDisk: /dev/sda}\n")
	r.write("talos/clusterconfig/shop-cp-1.yaml", "version: v1alpha1\nmachine: {type: controlplane}\n")
	r.write("broken/talconfig.yaml", "nodes: [\n")
	r.commit("talos/talsecret.sops.yaml", m.encrypt(t, m.bundle, ""))
	all, err := facts.Read(r.gather())
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range all.Problems {
		if strings.HasPrefix(problem.File, "talos/") {
			t.Error(problem)
		}
	}
	if len(all.Clusters) != 1 || len(all.Machines) != 2 || all.Clusters[0].Name != "shop" {
		t.Errorf("%d clusters, %d machines", len(all.Clusters), len(all.Machines))
	}
	if remarks := r.gather().Remarks; len(remarks) != 1 || !strings.HasPrefix(remarks[0], "broken/talconfig.yaml: the folder of talhelper could not be taken for declarations") {
		t.Errorf("%q", remarks)
	}
}

// TestForeignTopf takes a folder of topf for declarations, with its patches and without any key.
func TestForeignTopf(t *testing.T) {
	r := newRepo(t)
	r.write("talos/topf.yaml", "clusterName: small\nclusterEndpoint: https://10.1.0.5:6443\nkubernetesVersion: 1.35.1\ntalosVersion: 1.13.8\nnodes:\n"+
		"  - {host: small-1, ip: 10.1.0.5, role: control-plane}\n  - {host: small-2, ip: 10.1.0.6, role: worker}\n")
	r.write("talos/all/01-install.yaml", "machine:\n  install:\n    disk: /dev/vda\n")
	r.write("talos/worker/01-taint.yaml", "machine:\n  nodeTaints:\n    example.com/slow: \"true:PreferNoSchedule\"\n")
	r.write("broken/topf.yaml", "nodes: [\n")
	r.commit("README.md", "# nothing\n")
	source := r.gather()
	all, err := facts.Read(source)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, machine := range all.Machines {
		taints := machine.Config.K8sNodeConfig().Taints()
		got = append(got, fmt.Sprintf("%s of %s, Talos %s, plane %v, disk %s, taints %v", machine.Name, machine.Cluster.Name, machine.TalosVersion, machine.ControlPlane, machine.Config.Machine().Install().Disk(), taints))
	}
	want := []string{
		"small-1 of small, Talos v1.13.8, plane true, disk /dev/vda, taints map[node-role.kubernetes.io/control-plane:NoSchedule]",
		"small-2 of small, Talos v1.13.8, plane false, disk /dev/vda, taints map[example.com/slow:true:PreferNoSchedule]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(all.Problems) > 0 {
		t.Error(all.Problems)
	}
	if remarks := source.Remarks; len(remarks) != 1 || !strings.HasPrefix(remarks[0], "broken/topf.yaml: the folder of topf could not be taken for declarations") {
		t.Errorf("%q", remarks)
	}
}
