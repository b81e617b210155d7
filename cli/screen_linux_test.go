// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// A screen is a terminal of which all that is written to it is kept.
type screen struct {
	*os.File // what a program is given
	whole    *os.File
	kept     chan []byte
}

// newScreen opens a terminal.
func newScreen(t *testing.T) *screen {
	t.Helper()
	whole, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatalf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = whole.Close() })
	var number, locked int32
	control(t, whole, syscall.TIOCSPTLCK, &locked)
	control(t, whole, syscall.TIOCGPTN, &number)
	end, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatalf("there are no terminals here: %v", err)
	}
	s := &screen{File: end, whole: whole, kept: make(chan []byte, 1)}
	go func() {
		text, _ := io.ReadAll(whole) // it ends with an error when the last program lets go of it
		s.kept <- text
	}()
	return s
}

// control asks a terminal for something, or tells it something.
func control(t *testing.T, file *os.File, what uintptr, value *int32) {
	t.Helper()
	if _, _, code := syscall.Syscall(syscall.SYS_IOCTL, file.Fd(), what, uintptr(unsafe.Pointer(value))); code != 0 {
		t.Fatalf("ioctl %x: %v", what, code)
	}
}

// end lets go of the terminal and is all that was written to it.
func (s *screen) end(t *testing.T) string {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return string(<-s.kept)
}

// seen is what stands on a screen in the end: lines can be written over, and colours do not matter.
func seen(raw string) string {
	var lines []string
	line, at := []rune{}, 0
	for rest := []rune(raw); len(rest) > 0; {
		char := rest[0]
		rest = rest[1:]
		switch char {
		case '\n':
			lines, line, at = append(lines, string(line)), nil, 0
		case '\r':
			at = 0
		case '\x1b':
			end := strings.IndexAny(string(rest), "Km")
			if rest[end] == 'K' {
				line = line[:at]
			}
			rest = rest[end+1:]
		default:
			line = append(line[:at], append([]rune{char}, line[min(at+1, len(line)):]...)...)
			at++
		}
	}
	return strings.Join(append(lines, string(line)), "\n")
}

// careless is a folder with an error, in a repository.
func careless(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "worker.yaml"), []byte("version: v1alpha1\npersist: false\nmachine: {type: worker}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	gitIn(t, dir, nil, "init", "--quiet", "--initial-branch=main")
	gitIn(t, dir, nil, "add", ".")
	gitIn(t, dir, nil, "commit", "--quiet", "--message=x")
	return dir
}

// gitIn runs a command of Git.
func gitIn(t *testing.T, dir string, in io.Reader, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	cmd.Stdin = in
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, said)
	}
}

// onScreens runs the check over a folder and returns what came out of each end.
func onScreens(t *testing.T, dir string, screens [2]bool, env ...string) (out, words string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "minos", "check", dir)
	cmd.Env = append(os.Environ(), append([]string{"NO_COLOR=", "TERM=xterm"}, env...)...)
	var ends [2]func() string
	for at, is := range screens {
		var to io.Writer
		if is {
			terminal := newScreen(t)
			to, ends[at] = terminal.File, func() string { return terminal.end(t) }
		} else {
			buffer := &bytes.Buffer{}
			to, ends[at] = buffer, buffer.String
		}
		if at == 0 {
			cmd.Stdout = to
		} else {
			cmd.Stderr = to
		}
	}
	if err := cmd.Run(); err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != ExitFindings {
			t.Fatal(err)
		}
	}
	return ends[0](), ends[1]()
}

// TestColours are for people who see them: on a terminal that shows them, and if nobody declined.
func TestColours(t *testing.T) {
	dir := careless(t)
	const escape = "\x1b["
	painted, _ := onScreens(t, dir, [2]bool{true, true})
	if !strings.Contains(painted, "CFG-016 \x1b[31merror\x1b[0m: ") {
		t.Errorf("an error is not red on a terminal:\n%s", painted)
	}
	piped, words := onScreens(t, dir, [2]bool{false, false})
	if strings.Contains(piped+words, escape) {
		t.Errorf("there are colours in what is piped:\n%s", piped)
	}
	if seen(painted) != piped {
		t.Errorf("on a terminal:\n%s\npiped:\n%s", seen(painted), piped)
	}
	for name, test := range map[string]struct {
		screens [2]bool
		env     string
	}{
		"declined": {[2]bool{true, true}, "NO_COLOR=1"}, "a terminal without colours": {[2]bool{true, true}, "TERM=dumb"}, "only words are seen": {[2]bool{false, true}, "COLUMNS=80"},
	} {
		if out, words := onScreens(t, dir, test.screens, test.env); strings.Contains(out+words, escape) {
			t.Errorf("%s: there are colours:\n%q\n%q", name, out, words)
		}
	}
}

// TestProgressOnAScreen is seen by people who wait, and leaves nothing behind.
func TestProgressOnAScreen(t *testing.T) {
	const words = "looking through the history"
	short := careless(t)
	if _, said := onScreens(t, short, [2]bool{false, true}); strings.Contains(said, words) {
		t.Errorf("a short history has progress: %q", said)
	}
	for versions := 8000; ; versions *= 3 {
		dir := careless(t)
		gitIn(t, dir, lengthy(versions), "fast-import", "--quiet", "--force")
		_, said := onScreens(t, dir, [2]bool{true, true})
		if !strings.Contains(said, words) && versions < 100_000 {
			continue // this computer is fast
		}
		if !strings.Contains(said, "\r\x1b[K"+words+": ") {
			t.Errorf("a long history has no progress: %q", said)
		}
		if final := seen(said); strings.Contains(final, words) || !strings.Contains(final, "rules hold") {
			t.Errorf("on the screen is left:\n%s", final)
		}
		if out, piped := onScreens(t, dir, [2]bool{true, false}); strings.Contains(out+piped, words) {
			t.Errorf("progress is piped: %q", piped)
		}
		return
	}
}

// lengthy is a branch of many versions of a large file, as fast-import reads it.
func lengthy(versions int) io.Reader {
	var text bytes.Buffer
	body := strings.Repeat("adminPassword: ${NOT_HERE}\n  token: <nor-here>\n", 400)
	for at := range versions {
		content := fmt.Sprintf("a: %d\n%s", at, body)
		_, _ = fmt.Fprintf(&text, "commit refs/heads/long\ncommitter x <x@example.com> %d +0000\ndata 1\nx\nM 100644 inline a.yaml\ndata %d\n%s\n", at+1, len(content), content)
	}
	return &text
}

// TestProgressIsWrittenOver shows one line, however often it is told.
func TestProgressIsWrittenOver(t *testing.T) {
	terminal := newScreen(t)
	shown := &progress{out: terminal.File, last: time.Now().Add(-time.Hour)}
	shown.step(1, 1000)
	shown.last = time.Now().Add(-time.Hour)
	shown.step(999, 1000)
	shown.end()
	raw := terminal.end(t)
	if strings.Count(raw, "looking through") != 2 || seen(raw) != "" {
		t.Errorf("%q leaves %q", raw, seen(raw))
	}
}
