// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write what the transcripts print into them")

// testVersion is what "minos version" prints in transcripts, wherever they run.
var testVersion = Version{
	Version:        "v1.2.3",
	Commit:         "0123abc",
	GoVersion:      "go1.26.0",
	Platform:       "linux/amd64",
	TalosMachinery: "v1.14.1",
	Kubernetes:     "v0.37.1",
}

// TestMain gives transcripts two programs: minos as it is, and scratch, the same frame with other commands.
func TestMain(m *testing.M) {
	std := Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	testscript.Main(m, map[string]func(){
		"minos":   func() { os.Exit(Main(New(std, testVersion), os.Args[1:])) },
		"scratch": func() { os.Exit(Main(newScratch(std), os.Args[1:])) },
	})
}

func TestTranscripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "given-secrets": givenSecrets},
	})
}

// exits runs a program and wants its exit code: "exits 2 minos plan". Code -1 is the end by a signal.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
