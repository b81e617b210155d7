// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"minos.dev/minos/cli"
	"minos.dev/minos/sim/command"
)

// cluster declares one that has no machines.
func cluster(name string) string {
	return "apiVersion: minos.dev/v1alpha1\nkind: TalosCluster\nmetadata: {name: " + name + "}\nspec:\n" +
		"  kubernetesVersion: v1.36.3\n  talosVersion: v1.13.9\n  endpoint: {host: 192.168.1.10}\n  controlPlane: {talos: {}}\n---\n"
}

// TestBadInput is what a user gets wrong, and what he reads then: a line, and where he can act, what to do. FOLDER is where the
// files are.
func TestBadInput(t *testing.T) {
	homelab, err := filepath.Abs("../../docs/examples/homelab")
	if err != nil {
		t.Fatal(err)
	}
	from := "folder: " + homelab + "\n"
	for name, test := range map[string]struct {
		files map[string]string
		run   string
		want  string
	}{
		"no such file": {
			run:  "gone.yaml",
			want: "minos: there is no scenario \"FOLDER/gone.yaml\"\nhint: give a file, or a folder of declarations\n",
		},
		"no such folder": {
			files: map[string]string{"a.yaml": "folder: fleet\n"}, run: "a.yaml",
			want: "minos: there is no folder or file \"FOLDER/fleet\"\nhint: give the folder that holds your declarations, or '.' for this one\n",
		},
		"not YAML": {
			files: map[string]string{"a.yaml": "steps: [\n"}, run: "a.yaml",
			want: "minos: FOLDER/a.yaml: yaml: line 1: did not find expected node content\n",
		},
		"an unknown field": {
			files: map[string]string{"a.yaml": from + "spede: 3\n"}, run: "a.yaml",
			want: "minos: FOLDER/a.yaml: spede: there is no such field, did you mean \"speed\"?\n",
		},
		"what makes no sense": {
			files: map[string]string{"a.yaml": from + "steps: [{machines: \"*\", do: explode}]\n"}, run: "a.yaml",
			want: "minos: FOLDER/a.yaml: steps[0].do: \"explode\" is not one of [die stop start reboot]\n",
		},
		"an unknown pool": {
			files: map[string]string{"a.yaml": from + "pools: {workrs: 1}\n"}, run: "a.yaml",
			want: "minos: pools.workrs: there is no such pool, did you mean \"workers\"?\n",
		},
		"an unknown pool later": {
			files: map[string]string{"a.yaml": from + "steps: [{scale: {master: 1}}]\n"}, run: "a.yaml",
			want: "minos: steps[0].scale.master: there is no such pool, did you mean \"masters\"?\n",
		},
		"an unknown cluster": {
			files: map[string]string{"a.yaml": from + "cluster: shelv\n"}, run: "a.yaml",
			want: "minos: cluster: no cluster shelv is declared, did you mean \"shelf\"?\n",
		},
		"two clusters": {
			files: map[string]string{"fleet.yaml": cluster("a") + cluster("b")}, run: "",
			want: "minos: cluster: there is more than one cluster: say which of a, b\n",
		},
		"no declarations": {
			files: map[string]string{"a.yaml": "until: 1m\n"}, run: "a.yaml",
			want: "minos: nothing in \"FOLDER\" is of a kind of minos.dev\nhint: give the folder that holds your declarations\n",
		},
		"a folder with problems": {
			files: map[string]string{"fleet.yaml": strings.Replace(cluster("a"), "talosVersion", "talosVersoin", 1)}, run: "",
			want: "minos: there is 1 problem in \"FOLDER\"\nhint: 'minos check FOLDER' says what that is\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for file, text := range test.files {
				write(t, folder, file, text)
			}
			got := minos(t, "sim", "run", filepath.Join(folder, test.run))
			if want := strings.ReplaceAll(test.want, "FOLDER", folder); got.code != cli.ExitError || got.out != "" || got.err != want {
				t.Errorf("exit code %d\n%s%swant\n%s", got.code, got.out, got.err, want)
			}
		})
	}
}

// TestNoControlPlane wants one who has not built it to be told what to run, and nothing to be left.
func TestNoControlPlane(t *testing.T) {
	t.Setenv("MINOS_KUBE", filepath.Join(t.TempDir(), "minos-kube"))
	got := minos(t, "sim", "run", "../../docs/examples/homelab")
	if got.code != cli.ExitError || !strings.Contains(got.err, "run 'make kube' first") {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
}

// TestStopped stops a rehearsal, and wants it to go on in its folder, but not as another one.
func TestStopped(t *testing.T) {
	folder, kept := t.TempDir(), t.TempDir()
	homelab, err := filepath.Abs("../../docs/examples/homelab")
	if err != nil {
		t.Fatal(err)
	}
	file := write(t, folder, "a.yaml", "folder: "+homelab+"\nspeed: 60\nuntil: 5h\n")
	ctx, stop := context.WithCancel(t.Context())
	out, words := &stopper{at: "boots v1.13.9", stop: stop}, &strings.Builder{}
	root := cli.New(cli.Streams{Out: out, Err: words}, cli.Version{})
	root.AddCommand(command.New())
	if code := cli.Run(ctx, root, []string{"sim", "run", file, "--dir", kept}); code == cli.ExitOK {
		t.Fatalf("it was not stopped\n%s", out.text.String())
	}
	write(t, folder, "a.yaml", "folder: "+homelab+"\nspeed: 60\nuntil: 6h\n")
	if got := minos(t, "sim", "run", file, "--dir", kept); got.code != cli.ExitError || !strings.Contains(got.err, "is the journal of another scenario") {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
	write(t, folder, "a.yaml", "folder: "+homelab+"\nspeed: 60\nuntil: 5h\n")
	got := minos(t, "sim", "run", file, "--dir", kept)
	if got.code != cli.ExitOK {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
	// When it was stopped, the others were made or were not; none is made again.
	if made := append(madeIn(out.text.String()), madeIn(got.out)...); len(slices.Compact(slices.Sorted(slices.Values(made)))) < len(made) {
		t.Errorf("these were made: %v\n%s\n%s", made, out.text.String(), got.out)
	}
}

// madeIn are the machines of which some output says that they were made.
func madeIn(output string) (names []string) {
	for line := range strings.Lines(output) {
		if words := strings.Fields(line); strings.HasSuffix(strings.TrimSpace(line), "is made") {
			names = append(names, words[1])
		}
	}
	return names
}

// A stopper stops when it is told something.
type stopper struct {
	text strings.Builder
	at   string
	stop func()
}

func (s *stopper) Write(text []byte) (int, error) {
	if strings.Contains(string(text), s.at) {
		s.stop()
	}
	return s.text.Write(text)
}
