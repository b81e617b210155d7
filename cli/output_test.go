// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/config"
	"minos.dev/minos/talos/pki"
)

// TestOutputRemembersWhatAKilledRunWrote ends a run after its first file, and expects the next one to know of it.
func TestOutputRemembersWhatAKilledRunWrote(t *testing.T) {
	root := filepath.Join(t.TempDir(), "out")
	files := map[string][]byte{"a/one.yaml": []byte("1"), "a/two.yaml": []byte("2")}
	killed := &stoppingContext{Context: t.Context(), after: 1}
	if err := bring(killed, root, files); err == nil {
		t.Fatal("the run was not stopped")
	}
	if _, err := os.Stat(filepath.Join(root, "a/one.yaml")); err != nil {
		t.Fatalf("nothing was written before the end: %v", err)
	}
	if err := bring(t.Context(), root, map[string][]byte{"b/other.yaml": []byte("3")}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "a/one.yaml")); !os.IsNotExist(err) {
		t.Errorf("a file of a run that was stopped is still there: %v", err)
	}
}

// A stoppingContext is cancelled after it was asked a number of times.
type stoppingContext struct {
	context.Context
	after int
}

func (c *stoppingContext) Err() error {
	if c.after--; c.after < 0 {
		return context.Canceled
	}
	return nil
}

// bring brings a folder to files.
func bring(ctx context.Context, root string, files map[string][]byte) error {
	to, err := openOutput(root)
	if err != nil {
		return err
	}
	effects, err := to.effects(files)
	if err != nil {
		return err
	}
	return to.apply(ctx, effects, files)
}

// TestCreateFileTakesNoTakenName also looks at what is left behind.
func TestCreateFileTakesNoTakenName(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := createFile(path, []byte("first"), modeSecret); err != nil {
		t.Fatal(err)
	}
	if err := createFile(path, []byte("second"), modeSecret); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("a name that was taken: %v", err)
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != "first" {
		t.Errorf("the file holds %q: %v", text, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestOutputLeavesAloneWhatIsTheSame(t *testing.T) {
	root := filepath.Join(t.TempDir(), "out")
	files := map[string][]byte{"one.yaml": []byte("1")}
	if err := bring(t.Context(), root, files); err != nil {
		t.Fatal(err)
	}
	past := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(root, "one.yaml"), past, past); err != nil {
		t.Fatal(err)
	}
	if err := bring(t.Context(), root, files); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(root, "one.yaml"))
	if err != nil || !info.ModTime().Equal(past) {
		t.Errorf("the file was written again: %v, %v", info.ModTime(), err)
	}
}

// TestOutputStaysInItsFolder gives it a list of files that leads out: nothing there may be read or removed.
func TestOutputStaysInItsFolder(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, manifestName), []byte(`{"files":["../precious"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openOutput(root); err == nil || !strings.Contains(err.Error(), "not in the folder") {
		t.Errorf("a list that leads out of the folder was taken: %v", err)
	}
}

// TestTalosconfigIsKeptWhileItServes has a year of life and looks at it from several days.
func TestTalosconfigIsKeptWhileItServes(t *testing.T) {
	contract, err := config.Contract("v1.13.9")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	secrets, err := pki.NewIdentity(contract, start)
	if err != nil {
		t.Fatal(err)
	}
	cluster := &renderedCluster{declaredCluster: &declaredCluster{TalosCluster: &api.TalosCluster{}}, secrets: secrets}
	cluster.Name = "shelf"
	endpoints := []string{"192.0.2.1"}
	text, err := secrets.Talosconfig(pki.TalosAccess{Cluster: "shelf", Endpoints: endpoints, Validity: pki.Validity{Now: start, For: 365 * 24 * time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	day := 24 * time.Hour
	tests := map[string]struct {
		text      string
		endpoints []string
		at        time.Duration
		want      bool
	}{
		"in the first half":       {string(text), endpoints, 180 * day, true},
		"in the second half":      {string(text), endpoints, 185 * day, false},
		"with another endpoint":   {string(text), []string{"192.0.2.2"}, 0, false},
		"of another cluster":      {strings.ReplaceAll(string(text), "shelf", "other"), endpoints, 0, false},
		"something else entirely": {"a: [", endpoints, 0, false},
	}
	for name, test := range tests {
		if got := cluster.served([]byte(test.text), test.endpoints, start.Add(test.at)); got != test.want {
			t.Errorf("%s: kept: %t", name, got)
		}
	}
	other, err := pki.NewIdentity(contract, start)
	if err != nil {
		t.Fatal(err)
	}
	cluster.secrets = other
	if cluster.served(text, endpoints, start) {
		t.Error("kept with another authority")
	}
}

// TestSecretsOfANamespace finds a value in its own namespace only.
func TestSecretsOfANamespace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret.yaml")
	text := "apiVersion: v1\nkind: Secret\nmetadata: {name: tailscale, namespace: a}\nstringData: {authkey: mine}\n" +
		"---\napiVersion: v1\nkind: Secret\nmetadata: {name: tailscale}\nstringData: {authkey: theirs}\n" // minos:not-secret: made for this test
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	wanted := []api.SecretKeyReference{{Name: "tailscale", Key: "authkey"}}
	found := &folder{paths: []string{path}}
	for namespace, want := range map[string]string{"a": "mine", "default": "theirs"} {
		values, err := found.values(newRender(), namespace, wanted, &keyring{})
		if err != nil || values[wanted[0]] != want {
			t.Errorf("namespace %s: got %q, want %q: %v", namespace, values[wanted[0]], want, err)
		}
	}
	if _, err := found.values(newRender(), "b", wanted, &keyring{}); err == nil {
		t.Error("a Secret of another namespace was taken")
	}
}
