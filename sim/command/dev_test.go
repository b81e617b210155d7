// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/client"

	"minos.dev/minos/cli"
	"minos.dev/minos/sim/command"
	"minos.dev/minos/sim/dev"
	"minos.dev/minos/sim/estate/estatetest"
)

// asProgram makes of this test's program minos itself, so that it can be ended by signals.
const asProgram = "MINOS_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		root := cli.New(cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, cli.Version{})
		root.AddCommand(command.New(), command.NewDev())
		os.Exit(cli.Main(root, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// within bounds a wait on a busy machine. It bounds, and does not measure.
const within = 5 * time.Minute

// program is minos as a process of its own.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*within)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=yes", "MINOS_OPERATOR="+estatetest.Operator(t))
	return cmd
}

// TestDev starts everything, tries all that it suggests, ends it with Ctrl-C, and wants nothing to be left but the folder: the next
// start goes on with the same machines. It takes minutes.
func TestDev(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "dev")
	cmd := program(t, "dev", "--dir", folder, "-o", "json")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var words bytes.Buffer
	cmd.Stderr = &words
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	summary, made := readSummary(t, out, &words)
	if len(made) != 4 || len(summary.Phases) != 6 {
		t.Errorf("the machines %v were made; the phases were %v", made, summary.Phases)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	tryAll(t, summary)
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil { // to all of its group, as a terminal does
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("Ctrl-C: %v: %s", err, words.String())
	}
	if left := estatetest.Processes(t, folder); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}

	late, err := program(t, "dev", "--dir", folder, "--once", "--timeout", "1ms").CombinedOutput()
	exit := &exec.ExitError{}
	if !asExit(err, &exit) || exit.ExitCode() != cli.ExitFindings || !strings.Contains(string(late), "minos: not all is Ready after 1ms: ") {
		t.Errorf("it was Ready in no time: %v\n%s", err, late)
	}
	again, err := program(t, "dev", "--dir", folder, "--once").CombinedOutput()
	if err != nil || !strings.Contains(string(again), "All is Ready after") {
		t.Fatalf("%v\n%s", err, again)
	}
	for name := range made {
		if name != "" && !strings.Contains(string(again), name) {
			t.Errorf("machine %s is not there any more\n%s", name, again)
		}
	}
	if left := estatetest.Processes(t, folder); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
}

// asExit says whether an error is that of a program which ended with a code.
func asExit(err error, exit **exec.ExitError) bool {
	found, ok := err.(*exec.ExitError) //nolint:errorlint // it is not wrapped
	if ok {
		*exit = found
	}
	return ok
}

// A summary is the last line that is printed before it stays.
type summary struct {
	Ready  bool
	Phases []struct{ Phase string }
	Access dev.Access
	Try    []dev.Suggestion
}

// readSummary reads until all is Ready, and returns which machines were made.
func readSummary(t *testing.T, out io.Reader, words *bytes.Buffer) (summary, map[string]bool) {
	t.Helper()
	made := map[string]bool{}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var line struct {
			summary
			What, Text string
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		if line.Text == "is made" {
			made[line.What] = true
		}
		if line.Ready {
			return line.summary, made
		}
	}
	t.Fatalf("it ended: %s", words.String())
	return summary{}, nil
}

// tryAll does what is suggested, as somebody does in another terminal. What needs talosctl is done as talosctl does it.
func tryAll(t *testing.T, done summary) {
	t.Helper()
	if len(done.Try) < 5 {
		t.Fatalf("only this is suggested: %v", done.Try)
	}
	for _, file := range []string{done.Access.Management, done.Access.Tenant, done.Access.Talos} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info, err)
		}
	}
	for _, one := range done.Try {
		if strings.HasPrefix(one.Command, "talosctl ") {
			talk(t, done.Access)
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), within)
		cmd := exec.CommandContext(ctx, "sh", "-c", one.Command)
		cmd.Env = append(os.Environ(), asProgram+"=yes")
		text, err := cmd.CombinedOutput()
		cancel()
		if err != nil || len(text) == 0 {
			t.Errorf("%s: %v\n%s", one.Command, err, text)
		}
	}
}

// talk asks a machine with the talosconfig.
func talk(t *testing.T, access dev.Access) {
	t.Helper()
	c, err := client.New(t.Context(), client.WithConfigFromFile(access.Talos))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	answer, err := c.ServiceList(t.Context())
	if err != nil || len(answer.Messages) == 0 || len(answer.Messages[0].Services) == 0 {
		t.Errorf("the machine says %v: %v", answer, err)
	}
}

// TestDevBadInput is what a user gets wrong, and what he reads then.
func TestDevBadInput(t *testing.T) {
	foreign := t.TempDir()
	write(t, foreign, "diary.txt", "dear diary")
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"no such story": {
			[]string{"--scenario", "signer-outtage"},
			"minos: --scenario: there is no story \"signer-outtage\", did you mean \"signer-outage\"?\nhint: 'minos dev --list-scenarios' lists them\n",
		},
		"too fast":              {[]string{"--speed", "0.5"}, "minos: --speed: 0.5 is not from 1 to 1000\n"},
		"somebody else's":       {[]string{"--dir", foreign}, "minos: " + foreign + " holds something else already: diary.txt: give an empty folder, or one that does not exist\n"},
		"emptying it is no way": {[]string{"--dir", foreign, "--fresh"}, "minos: " + foreign + " holds something else already: diary.txt: give an empty folder, or one that does not exist\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := minos(t, append([]string{"dev"}, test.args...)...)
			if got.code != cli.ExitError || got.out != "" || got.err != test.want {
				t.Errorf("exit code %d\n%s%swant\n%s", got.code, got.out, got.err, test.want)
			}
		})
	}
	if text, err := os.ReadFile(filepath.Join(foreign, "diary.txt")); err != nil || string(text) != "dear diary" {
		t.Errorf("the diary is %q now: %v", text, err)
	}
}

// TestDevWithoutItsPrograms wants one who has not built them to be told what to run, and nothing to be left.
func TestDevWithoutItsPrograms(t *testing.T) {
	t.Setenv("MINOS_OPERATOR", filepath.Join(t.TempDir(), "minos-operator"))
	got := minos(t, "dev", "--dir", filepath.Join(t.TempDir(), "dev"))
	if got.code != cli.ExitError || !strings.Contains(got.err, "run 'make build' first") {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
}

// TestListStories lists every story with what happens in it.
func TestListStories(t *testing.T) {
	got := minos(t, "dev", "--list-scenarios")
	if got.code != cli.ExitOK {
		t.Errorf("exit code %d\n%s", got.code, got.err)
	}
	for _, story := range dev.Stories() {
		if !strings.Contains(got.out, story.Name) || story.About == "" || story.End == "" {
			t.Errorf("%s is not listed as it should be:\n%s", story.Name, got.out)
		}
	}
}
