// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"minos.dev/minos/sops"
	"minos.dev/minos/talos/pki"
)

// home gives a test a home of its own without any key, and returns it.
func home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{keyVariable, keyFileVariable, "XDG_CONFIG_HOME"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", dir)
	return dir
}

// write writes a file of a test.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// newKey makes an age key.
func newKey(t *testing.T) *age.X25519Identity {
	t.Helper()
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestKeyring reads keys from all places together.
func TestKeyring(t *testing.T) {
	dir := home(t)
	if keys, err := loadKeyring(); err != nil || len(keys.identities) != 0 {
		t.Errorf("no keys are no error: %v, %d keys", err, len(keys.identities))
	}
	one, two, three, four := newKey(t), newKey(t), newKey(t), newKey(t)
	t.Setenv(keyVariable, one.String()+" "+two.String())
	t.Setenv(keyFileVariable, filepath.Join(dir, "mine.txt"))
	write(t, filepath.Join(dir, "mine.txt"), "# a comment\n\n"+three.String()+"\nAGE-PLUGIN-YUBIKEY-1XYZ\n")
	write(t, defaultKeyFile(), four.String()+"\n")
	keys, err := loadKeyring()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, key := range []*age.X25519Identity{one, two, three, four} {
		want = append(want, key.Recipient().String())
	}
	if diff := cmp.Diff(want, keys.recipients); diff != "" || len(keys.identities) != 4 || keys.passedOver != 1 {
		t.Errorf("%d keys, %d passed over (-want +got):\n%s", len(keys.identities), keys.passedOver, diff)
	}
}

// TestKeyringRefuses expects an error where a key was meant to be, and never the key in it.
func TestKeyringRefuses(t *testing.T) {
	broken := strings.Replace(newKey(t).String(), "KEY-1", "KEY-1Q", 1)
	tests := map[string]struct {
		prepare func(t *testing.T, dir string)
		want    string
	}{
		"a broken key": {func(t *testing.T, _ string) { t.Setenv(keyVariable, broken) }, "SOPS_AGE_KEY: there is something in it that is no age key"},
		"a file that is not there": {
			func(t *testing.T, _ string) { t.Setenv(keyFileVariable, "nowhere") },
			"SOPS_AGE_KEY_FILE: could not read the keys: open nowhere: no such file or directory",
		},
		"a file that is none": {
			func(t *testing.T, dir string) { t.Setenv(keyFileVariable, dir) },
			"SOPS_AGE_KEY_FILE: could not read the keys: read DIR: is a directory",
		},
		"a default file that cannot be read": {
			func(t *testing.T, _ string) { write(t, filepath.Join(defaultKeyFile(), "x"), "") },
			"could not read the keys: read DIR/.config/sops/age/keys.txt: is a directory",
		},
		"a default file with something else": {
			func(t *testing.T, _ string) { write(t, defaultKeyFile(), broken) },
			"DIR/.config/sops/age/keys.txt: there is something in it that is no age key",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := home(t)
			test.prepare(t, dir)
			_, err := loadKeyring()
			if want := strings.ReplaceAll(test.want, "DIR", dir); err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			if err != nil && strings.Contains(err.Error(), broken) {
				t.Error("the error shows the key")
			}
		})
	}
}

func TestMakeKey(t *testing.T) {
	home(t)
	recipient, path, err := makeKey(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != modeSecret || path != defaultKeyFile() {
		t.Errorf("%s: %v, %v", path, info.Mode(), err)
	}
	keys, err := loadKeyring()
	if err != nil || !keys.canOpen([]string{"other", recipient}) || keys.canOpen([]string{"other"}) {
		t.Errorf("%v: %v", keys.recipients, err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := makeKey(time.Now()); err == nil {
		t.Error("a key was written over")
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Error("the key is another one")
	}
}

// TestNewSopsConfig reads what is written, for the files that it is for.
func TestNewSopsConfig(t *testing.T) {
	one, two := newKey(t).Recipient().String(), newKey(t).Recipient().String()
	config, err := sops.ParseConfig(newSopsConfig([]string{one, two}))
	if err != nil {
		t.Fatal(err)
	}
	rule, err := config.For("deep/shop" + encryptedSuffix)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sops.Rule{Recipients: []string{one, two}}, rule); diff != "" {
		t.Error(diff)
	}
	if _, err := config.For("deep/cluster.yaml"); err == nil {
		t.Error("a declaration would be encrypted")
	}
}

// TestReadSecretFile tells the three ways apart in which it can fail.
func TestReadSecretFile(t *testing.T) {
	dir, key := home(t), newKey(t)
	keys := &keyring{identities: []age.Identity{key}}
	encrypted, err := sops.Encrypt([]byte("a: 1\n"), sops.Rule{Recipients: []string{key.Recipient().String()}}, zeros{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "encrypted.yaml"), string(encrypted))
	write(t, filepath.Join(dir, "plain.yaml"), "a: 1\n")
	for _, name := range []string{"encrypted.yaml", "plain.yaml"} {
		if text, err := readSecretFile(filepath.Join(dir, name), keys); err != nil || string(text) != "a: 1\n" {
			t.Errorf("%s: %q %v", name, text, err)
		}
	}
	if _, err := readSecretFile(filepath.Join(dir, "nowhere.yaml"), keys); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := readSecretFile(dir, keys); err == nil || errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "could not read it") {
		t.Errorf("got %v", err)
	}
	text, err := readSecretFile(filepath.Join(dir, "encrypted.yaml"), &keyring{})
	if _, ok := errors.AsType[*sops.NoKeyError](err); !ok || text != nil {
		t.Errorf("got %q, %v", text, err)
	}
	if hint, ok := errors.AsType[*hintError](err); !ok || !strings.Contains(hint.hint, key.Recipient().String()) || !strings.Contains(hint.hint, keyVariable) {
		t.Errorf("got %v", err)
	}
}

// zeros are enough entropy for a test that keeps nothing.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// shop is a folder with a cluster and its secrets, and how to read them.
func shop(t *testing.T) (*cobra.Command, *declaredCluster, *keyring) {
	t.Helper()
	dir := home(t)
	write(t, filepath.Join(dir, "fleet", "cluster.yaml"), `apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: shop}
spec:
  kubernetesVersion: v1.36.0
  talosVersion: v1.14.1
  endpoint: {host: 192.0.2.10}
  controlPlane: {talos: {}}
`)
	if err := giveSecrets(dir, filepath.Join(dir, "fleet"), "shop"); err != nil {
		t.Fatal(err)
	}
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())
	cluster, err := findCluster(cmd, filepath.Join(dir, "fleet"), "shop")
	if err != nil {
		t.Fatal(err)
	}
	keys, err := loadKeyring()
	if err != nil {
		t.Fatal(err)
	}
	return cmd, cluster, keys
}

// TestSecretsForMachines looks at what a configuration gets during a rotation.
func TestSecretsForMachines(t *testing.T) {
	cmd, cluster, keys := shop(t)
	for _, part := range []string{"ca-talos", "ca-kubernetes", "serviceaccount"} {
		if _, stderr, code := run(t, flags(), "secrets", "rotate", "shop", "--folder", cluster.dir, "--part", part); code != ExitOK {
			t.Fatal(stderr)
		}
	}
	file, err := readSecrets(cmd, cluster, keys)
	if err != nil {
		t.Fatal(err)
	}
	got := file.forMachines()
	if got.Bundle != file.secrets.Bundle || len(got.Accepted.TalosCAs) != 1 || len(got.Accepted.KubernetesCAs) != 1 || len(got.Accepted.ServiceAccountKeys) != 1 {
		t.Errorf("got %+v", got.Accepted)
	}
	if got.Accepted.TalosCAs[0] != file.secrets.Accepted(pki.PartTalosCA)[0] || got.Accepted.TalosCAs[0] == got.Accepted.KubernetesCAs[0] {
		t.Error("the authorities are mixed up")
	}
}

// TestSecretsAreNotLost writes into a file that somebody changed since it was read.
func TestSecretsAreNotLost(t *testing.T) {
	cmd, cluster, keys := shop(t)
	file, err := readSecrets(cmd, cluster, keys)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file.path)
	if err != nil || info.Mode().Perm() != modeSecret {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := file.write(file.secrets); err != nil {
		t.Errorf("nothing changed, and yet: %v", err)
	}
	write(t, file.path, string(file.text)+"# somebody was here\n")
	if err := file.write(file.secrets); err == nil || !strings.Contains(err.Error(), "was changed by somebody else meanwhile") {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(file.path); err != nil || !strings.HasSuffix(string(text), "# somebody was here\n") {
		t.Error("the change is gone")
	}
}

// TestEncryptKeepsModeAndLinks encrypts a file behind a link.
func TestEncryptKeepsModeAndLinks(t *testing.T) {
	dir, key := home(t), newKey(t)
	file, link := filepath.Join(dir, "real.yaml"), filepath.Join(dir, "link.yaml")
	write(t, file, "a: s3cret\n")
	if err := errors.Join(os.Chmod(file, 0o640), os.Symlink("real.yaml", link)); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := run(t, flags(), "secrets", "encrypt", link, "--age", key.Recipient().String()); code != ExitOK {
		t.Fatal(stderr)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	t.Setenv(keyVariable, key.String())
	if _, stderr, code := run(t, flags(), "secrets", "decrypt", link, "--in-place"); code != ExitOK {
		t.Fatal(stderr)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != modeSecret {
		t.Errorf("in clear it has mode %v, %v", info.Mode(), err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "a: s3cret\n" {
		t.Errorf("%q %v", text, err)
	}
}
