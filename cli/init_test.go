// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// initNow is today.
func initNow() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// runInit runs the command as if a person typed what is read, in a home without keys, and returns what it said.
func runInit(ctx context.Context, t *testing.T, in io.Reader, args ...string) (string, int) {
	t.Helper()
	var said bytes.Buffer
	root := &cobra.Command{Use: "minos", SilenceErrors: true, SilenceUsage: true}
	root.SetIn(in)
	root.SetOut(&said)
	root.SetErr(&said)
	root.AddGroup(&cobra.Group{ID: GroupFolder})
	root.AddCommand(newInitIn(initShell{now: initNow, terminal: func(io.Reader) bool { return true }, bundle: givenBundle}, testVersion))
	code := Run(ctx, root, append([]string{"init"}, args...))
	return said.String(), code
}

// newHome is a home without keys, and a folder to work in.
func newHome(t *testing.T) (home, dir string) {
	t.Helper()
	home, dir = t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("SOPS_AGE_KEY", "")
	t.Setenv("SOPS_AGE_KEY_FILE", "")
	t.Setenv("USER", "jo")
	return home, filepath.Join(dir, "fleet")
}

// tree is the files below folders, without those folders.
func tree(t *testing.T, roots ...string) []string {
	t.Helper()
	var found []string
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if path != root {
				below, _ := filepath.Rel(root, path)
				found = append(found, below)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// TestInitAsks talks through a whole init: wrong answers, Enter, and answers of one's own.
func TestInitAsks(t *testing.T) {
	_, dir := newHome(t)
	typed := strings.Join([]string{
		"homlab", "homelab", // profile
		"",                       // name
		"v1.13",                  // talos
		"",                       // topology
		"a=10.0.0.1",             // control planes
		"b=10.0.0.2, c=10.0.0.3", // workers
		"/dev/vda",
		"", // management
		"", // storage
		"", // extensions
		"", // age
		"", // upgrades
		"", // backup
		"", // endpoint
		"", // owner
	}, "\n") + "\n"
	said, code := runInit(t.Context(), t, strings.NewReader(typed), dir,
		"--cni", "cilium", "--platform", "metal", "--kubernetes", "v1.35.0", "--workloads")
	if code != ExitOK {
		t.Fatalf("exit code %d: %s", code, said)
	}
	golden := filepath.Join("testdata", "init-talk.golden")
	said = strings.NewReplacer(dir, "fleet", os.Getenv("HOME"), "~").Replace(said)
	if *update {
		if err := os.WriteFile(golden, []byte(said), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), said); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	pools, err := os.ReadFile(filepath.Join(dir, "pools.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"name: c\n          address: 10.0.0.3\n          disk:\n            path: /dev/vda\n", "clusterName: fleet\n"} {
		if !strings.Contains(string(pools), text) {
			t.Errorf("pools.yaml has no %q:\n%s", text, pools)
		}
	}
}

// TestInitLeftAlone ends the talk early: nothing is written, anywhere.
func TestInitLeftAlone(t *testing.T) {
	home, dir := newHome(t)
	said, code := runInit(t.Context(), t, strings.NewReader("edge\n\n\n"), dir)
	if code != ExitError || !strings.HasSuffix(said, "minos: the answers ended before the last question: nothing was written\n") {
		t.Errorf("exit code %d: %s", code, said)
	}
	if left := tree(t, home, dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// interrupting is a keyboard at which Ctrl-C is pressed when the first answer is read.
type interrupting struct{ cancel context.CancelFunc }

func (i interrupting) Read([]byte) (int, error) {
	i.cancel()
	select {} // and nothing is ever typed
}

func TestInitInterrupted(t *testing.T) {
	home, dir := newHome(t)
	ctx, cancel := context.WithCancel(t.Context())
	said, code := runInit(ctx, t, interrupting{cancel}, dir)
	if code != ExitError || !strings.HasSuffix(said, "minos: interrupted\n") {
		t.Errorf("exit code %d: %s", code, said)
	}
	if left := tree(t, home, dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestInitDoesNotAskWithYes takes the profile's answers though somebody is there.
func TestInitDoesNotAskWithYes(t *testing.T) {
	_, dir := newHome(t)
	said, code := runInit(t.Context(), t, strings.NewReader(""), dir, "--profile", "edge", "--yes")
	if code != ExitOK || strings.Contains(said, "?") {
		t.Errorf("exit code %d: %s", code, said)
	}
}

// prepared is a folder that is about to be written.
func prepared(t *testing.T, dir string, args ...string) (*madeFolder, *cobra.Command) {
	t.Helper()
	shell := initShell{now: initNow, terminal: func(io.Reader) bool { return false }, bundle: givenBundle}
	cmd := newInitIn(shell, testVersion)
	cmd.SetErr(io.Discard)
	cmd.SetContext(t.Context())
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	target, err := newTarget(dir)
	if err != nil {
		t.Fatal(err)
	}
	made, err := shell.start(cmd, target, testVersion, false)
	if err != nil {
		t.Fatal(err)
	}
	return made, cmd
}

// TestInitWrites looks at who may read and run what.
func TestInitWrites(t *testing.T) {
	home, dir := newHome(t)
	made, cmd := prepared(t, dir, "--profile", "homelab")
	if err := made.write(cmd, initNow()); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{
		filepath.Join(dir, "cluster.yaml"):               0o644,
		filepath.Join(dir, "fleet.secrets.sops.yaml"):    0o600,
		filepath.Join(dir, ".githooks/pre-commit"):       0o755,
		filepath.Join(home, ".config/sops/age/keys.txt"): 0o600,
		filepath.Join(home, ".config/sops/age"):          0o700 | fs.ModeDir,
	} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s: mode %v, want %v", path, info.Mode(), want)
		}
	}
}

// TestInitUndoes has somebody else write a file into the folder meanwhile: theirs stays, and nothing of ours.
func TestInitUndoes(t *testing.T) {
	home, dir := newHome(t)
	made, cmd := prepared(t, dir, "--profile", "homelab")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("theirs\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := made.write(cmd, initNow())
	if err == nil || !strings.HasSuffix(err.Error(), ".gitignore exists already, and nothing is written over it") {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff([]string{".gitignore"}, tree(t, home, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestInitUndoesOnCtrlC is interrupted while it writes.
func TestInitUndoesOnCtrlC(t *testing.T) {
	home, dir := newHome(t)
	made, cmd := prepared(t, dir, "--profile", "homelab")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cmd.SetContext(ctx)
	if err := made.write(cmd, initNow()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left := tree(t, home, dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestATerminalIsOne tells a person from a pipe and from nothing.
func TestATerminalIsOne(t *testing.T) {
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = nothing.Close() }()
	for _, in := range []io.Reader{strings.NewReader(""), nothing} {
		if isTerminal(in) {
			t.Errorf("%T is a terminal", in)
		}
	}
}
