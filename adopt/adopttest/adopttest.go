// SPDX-License-Identifier: Apache-2.0

// Package adopttest tells stories of folders of other tools: a text archive with the folder and with what becomes of it.
package adopttest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"go.yaml.in/yaml/v3"
	"golang.org/x/tools/txtar"

	"minos.dev/minos/adopt"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sops"
)

// Bundle is the secrets of all stories. They are made anew with every run: what is compared must not depend on them.
var Bundle = sync.OnceValues(func() ([]byte, error) {
	made, err := secrets.NewBundle(secrets.NewFixedClock(time.Now()), nil, secrets.WithECDSAServiceAccountKey())
	if err != nil {
		return nil, err
	}
	return yaml.Marshal(made)
})

// Identity is the key of whoever keeps the folders of the stories.
var Identity = sync.OnceValues(age.GenerateX25519Identity)

// A Story is one archive, and the folder that it holds.
type Story struct {
	// Name is the name of the archive.
	Name string
	// Dir is where its folder is unpacked.
	Dir string

	path    string
	archive *txtar.Archive
}

// Stories unpacks all archives of testdata. Files whose names end in .sops.yaml, or that begin with a comment that asks for
// it, are encrypted; each folder gets the secrets under a name that the caller chooses.
func Stories(t testing.TB, secretName func(encrypted bool) string) []Story {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	var all []Story
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, Story{strings.TrimSuffix(filepath.Base(path), ".txtar"), unpack(t, archive, secretName), path, archive})
	}
	return all
}

func unpack(t testing.TB, archive *txtar.Archive, secretName func(encrypted bool) string) string {
	t.Helper()
	text, err := Bundle()
	if err != nil {
		t.Fatal(err)
	}
	name := secretName(slices.ContainsFunc(archive.Files, isEncrypted))
	dir := t.TempDir()
	for _, file := range append(slices.Clone(archive.Files), txtar.File{Name: name, Data: text}) {
		if isWanted(file) {
			continue
		}
		if isEncrypted(file) {
			file.Data = Encrypt(t, file.Data)
		}
		path := filepath.Join(dir, file.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func isWanted(file txtar.File) bool { return strings.HasPrefix(file.Name, "want/") }

func isEncrypted(file txtar.File) bool {
	return strings.HasSuffix(file.Name, ".sops.yaml") || strings.HasPrefix(string(file.Data), "# encrypted\n")
}

// Encrypt encrypts a text for Identity.
func Encrypt(t testing.TB, text []byte) []byte {
	t.Helper()
	key, err := Identity()
	if err != nil {
		t.Fatal(err)
	}
	encrypted, err := sops.Encrypt(text, sops.Rule{Recipients: []string{key.Recipient().String()}}, rand.Reader, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return encrypted
}

// Decrypt decrypts with Identity what is encrypted.
func Decrypt(text []byte) ([]byte, bool, error) {
	key, err := Identity()
	if err != nil || !sops.Encrypted(text) {
		return text, false, err
	}
	plain, err := sops.Decrypt(text, key)
	if errors.Is(err, sops.ErrNotEncrypted) {
		return text, false, nil
	}
	return plain, err == nil, err
}

// Folder is the folder of a story, with the key to it.
func (s Story) Folder(t testing.TB) *adopt.Folder {
	t.Helper()
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return &adopt.Folder{FS: root.FS(), Decrypt: Decrypt}
}

// Check compares a result with what the story says, or writes it into the story.
func (s Story) Check(t *testing.T, result *adopt.Result, update bool) {
	t.Helper()
	got := &txtar.Archive{Comment: s.archive.Comment, Files: slices.DeleteFunc(slices.Clone(s.archive.Files), isWanted)}
	for _, name := range slices.Sorted(maps.Keys(result.Files)) {
		got.Files = append(got.Files, txtar.File{Name: "want/" + name, Data: result.Files[name]})
	}
	got.Files = append(got.Files, txtar.File{Name: "want/report", Data: []byte(report(result))})
	if update {
		if err := os.WriteFile(s.path, txtar.Format(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(txtar.Format(s.archive)), string(txtar.Format(got))); diff != "" {
		t.Errorf("what comes out is not what the story says (-update writes it):\n%s", diff)
	}
}

// report is what was found, a line each.
func report(result *adopt.Result) string {
	var b strings.Builder
	for _, reference := range slices.SortedFunc(maps.Keys(result.Values), func(a, b api.SecretKeyReference) int { return strings.Compare(a.Key, b.Key) }) {
		_, _ = fmt.Fprintf(&b, "secret: %s of %s\n", reference.Key, reference.Name) // a builder takes everything
	}
	for _, remark := range result.Notes {
		_, _ = fmt.Fprintln(&b, "note:", remark)
	}
	for _, remark := range result.Left {
		_, _ = fmt.Fprintln(&b, "left:", remark)
	}
	shown := func(value *string) string {
		if value == nil {
			return "nothing"
		}
		return *value
	}
	for _, d := range result.Proof.Differences {
		_, _ = fmt.Fprintf(&b, "differs: %s %s %s: %s, and ours %s: %s\n", d.Machine, d.Document, d.Path, shown(d.Theirs), shown(d.Ours), d.Why)
	}
	for _, l := range result.Proof.Likenesses {
		_, _ = fmt.Fprintf(&b, "alike: %s %s %s: %s\n", l.Machine, l.Document, l.Path, l.Why)
	}
	return b.String()
}
