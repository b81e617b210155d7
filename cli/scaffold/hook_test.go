// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A clone is a repository with the hook in use.
type clone struct {
	t   *testing.T
	dir string
	env []string
}

// newClone makes a repository. The minos on its PATH ends as it is told.
func newClone(t *testing.T) *clone {
	t.Helper()
	for _, program := range []string{"git", "sh"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("the hook needs %s: %v", program, err)
		}
	}
	_, files := made(t, "profile=homelab")
	c := &clone{t: t, dir: t.TempDir()}
	programs := t.TempDir()
	c.env = append(os.Environ(), "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "HOME="+c.dir)
	for name, text := range files {
		c.write(name, text)
	}
	if err := os.Chmod(filepath.Join(c.dir, ".githooks/pre-commit"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(programs, "minos"), []byte("#!/bin/sh\necho \"minos $*\" >&2\nexit \"${MINOS_ENDS:-0}\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c.run("init", "--quiet")
	c.run("config", "core.hooksPath", ".githooks")
	c.run("config", "user.name", "jo")
	c.run("config", "user.email", "jo@example.com")
	return c
}

// write writes a file.
func (c *clone) write(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// git runs git and returns what it says.
func (c *clone) git(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	said, err := cmd.CombinedOutput()
	return string(said), err
}

// run is git without failure.
func (c *clone) run(args ...string) string {
	c.t.Helper()
	said, err := c.git(args...)
	if err != nil {
		c.t.Fatalf("git %v: %v\n%s", args, err, said)
	}
	return said
}

// TestHookLetsTheFolderThrough commits the folder as it was made, and looks at what is checked.
func TestHookLetsTheFolderThrough(t *testing.T) {
	c := newClone(t)
	c.write("home.secrets.sops.yaml", "cluster:\n    id: ENC[AES256_GCM,data:aaaa,iv:bbbb,tag:cccc,type:str]\nsops:\n    mac: ENC[AES256_GCM,data:aaaa]\n")
	c.write("other.yaml", "taints:\n  - key: some-company.example.com/special-purpose\n    secret: tailscale\n    token: from-elsewhere\n")
	c.write(".sops.yaml", "creation_rules:\n  - path_regex: \\.sops\\.yaml$\n    age: age1qqqqqqqqqqqqqqqqqqqq\n")
	c.run("add", "--all")
	if said := c.run("commit", "--message", "first"); !strings.Contains(said, "minos check . --history off\n") {
		t.Errorf("minos was not asked: %s", said)
	}
	if said := c.run("ls-files"); !strings.Contains(said, "home.secrets.sops.yaml\n") {
		t.Errorf("the encrypted secrets are ignored: %s", said)
	}
}

// TestHookRefuses commits what must not be committed.
func TestHookRefuses(t *testing.T) {
	for name, test := range map[string]struct{ file, text, want string }{
		"a bundle in clear":            {"a.sops.yaml", "cluster:\n    id: abc\n", "a.sops.yaml: is not encrypted"},
		"a bundle that says it is not": {"a.sops.yaml", "cluster:\n    id: abc\nsops:\n    mac: x\n", "a.sops.yaml: is not encrypted"},
		"an age key":                   {"notes.txt", "AGE-SECRET-" + "KEY-1" + strings.Repeat("Q", 58) + "\n", "notes.txt: looks like a secret"},
		"a private key":                {"a b/key.pem", "-----BEGIN ED25519 " + "PRIVATE KEY-----\n", "a b/key.pem: looks like a secret"},
		"a machine configuration":      {"cp.yaml", "machine:\n  token: abcdef.0123456789abcdef\n", "cp.yaml: looks like a secret"},
		"a bundle under another name":  {"x.yaml", "secrets:\n    bootstraptoken: abcdef.0123456789abcdef\n", "x.yaml: looks like a secret"},
		"a bundle's encryption key":    {"y.yaml", "    secretboxencryptionsecret: " + strings.Repeat("A", 43) + "=\n", "y.yaml: looks like a secret"},
		"a kubeconfig":                 {"k.yaml", "    client-key-data: " + strings.Repeat("A", 64) + "\n", "k.yaml: looks like a secret"},
		"a talosconfig":                {"t.yaml", "contexts:\n  a:\n    key: " + strings.Repeat("A", 64) + "\n", "t.yaml: looks like a secret"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			c.write(test.file, test.text)
			c.run("add", "--force", test.file)
			c.write(test.file, "nothing\n") // what counts is what is staged
			said, err := c.git("commit", "--message", "oops")
			if err == nil || !strings.Contains(said, test.want) {
				t.Errorf("%v: %s", err, said)
			}
			if strings.Contains(said, "AAAA") || strings.Contains(said, "0123456789") {
				t.Errorf("the secret is printed: %s", said)
			}
		})
	}
}

// TestHookListensToMinos refuses what minos finds wrong.
func TestHookListensToMinos(t *testing.T) {
	c := newClone(t)
	c.env = append(c.env, "MINOS_ENDS=3")
	c.run("add", "--all")
	if said, err := c.git("commit", "--message", "wrong"); err == nil {
		t.Errorf("it was committed: %s", said)
	}
}

// TestIgnored keeps keys and what is rendered out of Git.
func TestIgnored(t *testing.T) {
	c := newClone(t)
	for _, name := range []string{
		"rendered/home/home-cp-1.yaml", "home.secrets.yaml", "secrets.yaml", "me.agekey", "keys.txt", "talosconfig", "kubeconfig", "kubeconfig.yaml",
	} {
		c.write(name, "x\n")
		if said, err := c.git("check-ignore", name); err != nil {
			t.Errorf("%s is not ignored: %s", name, said)
		}
	}
	for _, name := range []string{"home.secrets.sops.yaml", ".sops.yaml", "cluster.yaml"} {
		c.write(name, "x\n")
		if said, err := c.git("check-ignore", name); err == nil {
			t.Errorf("%s is ignored: %s", name, said)
		}
	}
}
