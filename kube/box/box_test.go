// SPDX-License-Identifier: Apache-2.0

package box

import (
	"bytes"
	"context"
	"io"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// boxed gives commands that record what they were called with.
func boxed(called *[]string) []Command {
	var commands []Command
	for _, name := range []string{"dev", "capi", "version", "etcd", "kube-apiserver", "kube-scheduler", "kubectl"} {
		commands = append(commands, Command{Name: name, About: "about " + name, Run: func(call Call) int {
			*called = append([]string{name}, call.Args...)
			return 7
		}})
	}
	return commands
}

func TestRun(t *testing.T) {
	for name, test := range map[string]struct {
		argv       []string
		wantCalled []string
		wantCode   int
		wantOut    string // a part of it
		wantErr    string
	}{
		"the first argument chooses": {
			argv: []string{"/opt/minos-kube", "kubectl", "get", "ns"}, wantCalled: []string{"kubectl", "get", "ns"}, wantCode: 7,
		},
		"a link's name chooses": {
			argv: []string{"/assets/etcd", "--name", "dev"}, wantCalled: []string{"etcd", "--name", "dev"}, wantCode: 7,
		},
		"a link without arguments runs": {
			argv: []string{"kubectl"}, wantCalled: []string{"kubectl"}, wantCode: 7,
		},
		"no argument explains": {
			argv: []string{"minos-kube"}, wantOut: "about kube-apiserver",
		},
		"help explains": {
			argv: []string{"minos-kube", "--help"}, wantOut: "Usage: minos-kube COMMAND",
		},
		"help of a command is the command's": {
			argv: []string{"minos-kube", "help", "dev"}, wantCalled: []string{"dev", "--help"}, wantCode: 7,
		},
		"--version is version": {
			argv: []string{"minos-kube", "--version"}, wantCalled: []string{"version"}, wantCode: 7,
		},
		"an unknown word is one line": {
			argv: []string{"minos-kube", "kubeclt"}, wantCode: 1,
			wantErr: "minos-kube: no command \"kubeclt\"; did you mean \"kubectl\"? (minos-kube help lists them)\n",
		},
		"a word like no command has no hint": {
			argv: []string{"minos-kube", "xyzzy"}, wantCode: 1,
			wantErr: "minos-kube: no command \"xyzzy\" (minos-kube help lists them)\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var called []string
			var out, errors bytes.Buffer
			code := run(test.argv, boxed(&called), Call{Stdout: &out, Stderr: &errors})
			if diff := cmp.Diff(test.wantCalled, called); diff != "" {
				t.Errorf("called (-want +got):\n%s", diff)
			}
			if code != test.wantCode {
				t.Errorf("exit code %d, want %d", code, test.wantCode)
			}
			if !strings.Contains(out.String(), test.wantOut) || (test.wantOut == "" && out.Len() > 0) {
				t.Errorf("output %q, want %q in it", out.String(), test.wantOut)
			}
			if diff := cmp.Diff(test.wantErr, errors.String()); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNearest(t *testing.T) {
	var ignored []string
	for word, want := range map[string]string{
		"kubctl":      "kubectl",
		"kube-apisrv": "kube-apiserver",
		"apiserver":   "kube-apiserver",
		"scheduler":   "kube-scheduler",
		"dve":         "", // two of three letters are wrong
		"de":          "dev",
		"":            "",
		"wholly-else": "",
	} {
		if got := nearest(word, boxed(&ignored)); got != want {
			t.Errorf("nearest(%q) is %q, want %q", word, got, want)
		}
	}
}

func TestUntilStdinEnds(t *testing.T) {
	reader, writer := io.Pipe()
	ctx, cancel := Until(context.Background(), reader)
	defer cancel()
	if _, err := writer.Write([]byte("still here\n")); err != nil {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Fatal("ended while standard input was open")
	}
	_ = writer.Close()
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("did not end with standard input")
	}
}

func TestVersions(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{
		{Path: "sigs.k8s.io/cluster-api", Version: "v1.14.2"},
		{Path: "k8s.io/kubernetes", Version: "v0.0.0", Replace: &debug.Module{Version: "v1.37.1"}},
		{Path: "example.com/other", Version: "v1.0.0"},
	}}
	got := versions(info)
	want := []string{"Kubernetes   v1.37.1", "Cluster API  v1.14.2"}
	if diff := cmp.Diff(want, got[:2]); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(got[2], "Go           go1.26.8 ") {
		t.Errorf("last line %q", got[2])
	}
}
