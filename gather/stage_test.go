// SPDX-License-Identifier: Apache-2.0

package gather_test

import (
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"filippo.io/age"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/gather"
	"minos.dev/minos/sops"
	"minos.dev/minos/talos/pki"
)

// A repo is a real repository of a test.
type repo struct {
	testing.TB
	dir string
}

// newRepo makes an empty repository, by a Git that has no settings of whoever runs the test.
func newRepo(t testing.TB) *repo {
	t.Helper()
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	r := &repo{t, t.TempDir()}
	r.git("init", "--quiet", "--initial-branch=main")
	return r
}

// git runs a command in the repository.
func (r *repo) git(arguments ...string) string {
	r.Helper()
	command := exec.Command("git", append([]string{"-c", "user.name=somebody", "-c", "user.email=somebody@example.com", "-c", "protocol.file.allow=always"}, arguments...)...)
	command.Dir = r.dir
	out, err := command.CombinedOutput()
	if err != nil {
		r.Fatalf("git %v: %v\n%s", arguments, err, out)
	}
	return strings.TrimSpace(string(out))
}

// write writes a file.
func (r *repo) write(path, text string) {
	r.Helper()
	path = filepath.Join(r.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.Fatal(err)
	}
}

// commit writes a file and commits all.
func (r *repo) commit(path, text string) {
	r.Helper()
	r.write(path, text)
	r.git("add", "--all")
	r.git("commit", "--quiet", "--message", "change "+path)
}

// gather gathers the repository.
func (r *repo) gather() facts.Source {
	r.Helper()
	source, err := gather.Folder(r.Context(), r.dir, gather.Options{})
	if err != nil {
		r.Fatal(err)
	}
	return source
}

// material is real secrets, made anew with every run.
type material struct {
	secrets                         *pki.Secrets
	bundle, talosconfig, kubeconfig string
	identity                        *age.X25519Identity
}

var made = sync.OnceValues(func() (*material, error) {
	secrets, err := pki.New(nil, time.Now())
	if err != nil {
		return nil, err
	}
	bundle, err := secrets.Marshal()
	if err != nil {
		return nil, err
	}
	valid := pki.Validity{Now: time.Now(), For: time.Hour}
	talosconfig, err := secrets.Talosconfig(pki.TalosAccess{Cluster: "shop", Endpoints: []string{"192.0.2.10"}, Validity: valid})
	if err != nil {
		return nil, err
	}
	kubeconfig, err := secrets.Kubeconfig(pki.KubeAccess{Cluster: "shop", Server: "https://192.0.2.10:6443", Validity: valid})
	if err != nil {
		return nil, err
	}
	identity, err := age.GenerateX25519Identity()
	return &material{secrets, string(bundle), string(talosconfig), string(kubeconfig), identity}, err
})

// newMaterial returns real secrets.
func newMaterial(t testing.TB) *material {
	t.Helper()
	found, err := made()
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// encrypt encrypts a text with SOPS, all of it or what a rule chooses.
func (m *material) encrypt(t testing.TB, text, expression string) string {
	t.Helper()
	encrypted, err := sops.Encrypt([]byte(text), sops.Rule{Recipients: []string{m.identity.Recipient().String()}, EncryptedRegex: expression}, rand.Reader, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return string(encrypted)
}
