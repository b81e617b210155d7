// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds one block on a busy machine. It bounds, and does not measure.
const patience = 3 * time.Minute

// programs is a folder with our programs, built from the sources as they are; and kubectl, which is Kubernetes' own.
var programs = sync.OnceValues(func() (string, error) {
	root, err := filepath.Abs("..")
	if err != nil {
		return "", err
	}
	folder := filepath.Join(root, "bin", "test", "programs")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", folder, "./cmd/minos", "./cmd/minos-operator", "./cmd/minos-signer")
	build.Dir = root
	if words, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the programs: %w: %s", err, words)
	}
	kube := filepath.Join(root, "bin", "minos-kube")
	if _, err := os.Stat(kube); err != nil {
		return "", fmt.Errorf("bin/minos-kube is not built: run 'make kube' first: %w", err)
	}
	script := fmt.Sprintf("#!/bin/sh\nexec %q kubectl \"$@\"\n", kube)
	if err := os.WriteFile(filepath.Join(folder, "kubectl"), []byte(script), 0o700); err != nil { //nolint:gosec // it is a program
		return "", err
	}
	if err := os.Symlink(kube, filepath.Join(folder, "minos-kube")); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return folder, nil
})

// A session is a terminal in which the commands of a page are typed: a clone of the repository, and a home of its own. Where it
// stands and what it exported is carried from one block to the next.
type session struct {
	folder    string
	variables []string
	stays     []*stay
}

// newSession begins one. What the clone has are links: commands may make files beside them, and change none.
func newSession(t *testing.T) *session {
	t.Helper()
	built, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	s := &session{folder: t.TempDir()}
	clone := filepath.Join(s.folder, "minos")
	for _, folder := range []string{clone, s.home()} {
		if err := os.MkdirAll(folder, 0o750); err != nil {
			t.Fatal(err)
		}
	}
	links := map[string]string{"bin": built}
	files, err := filepath.Glob("../[a-zA-Z]*")
	for _, file := range files {
		if name := filepath.Base(file); name != "bin" {
			links[name] = filepath.Join(built, "..", "..", "..", name)
		}
	}
	for name, target := range links {
		err = errors.Join(err, os.Symlink(target, filepath.Join(clone, name)))
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.folder, "where"), []byte(clone), 0o600); err != nil {
		t.Fatal(err)
	}
	s.variables = append([]string{
		"PATH=" + built + ":" + os.Getenv("PATH"), "HOME=" + s.home(), "USER=jo", "LANG=C.UTF-8", "SESSION=" + s.folder,
		"GIT_AUTHOR_NAME=Jo", "GIT_AUTHOR_EMAIL=jo@example.com", "GIT_COMMITTER_NAME=Jo", "GIT_COMMITTER_EMAIL=jo@example.com",
	}, goSettings()...)
	t.Cleanup(func() {
		for _, one := range s.stays {
			one.end(t)
		}
	})
	return s
}

// goSettings are where Go has its modules: a new home has none, and 'minos dev' takes the definitions of others from them.
var goSettings = sync.OnceValue(func() (all []string) {
	for _, name := range []string{"GOMODCACHE", "GOPROXY", "GOFLAGS", "GOTOOLCHAIN", "GOCACHE", "GONOSUMDB", "GOSUMDB"} {
		if value, err := exec.Command("go", "env", name).Output(); err == nil {
			all = append(all, name+"="+strings.TrimSpace(string(value)))
		}
	}
	return all
})

// home is the home of whoever sits there.
func (s *session) home() string { return filepath.Join(s.folder, "home") }

// frame is around every block: it takes up the state of the one before, and leaves its own.
const frame = `set -euo pipefail
[ ! -e "$SESSION/exported" ] || . "$SESSION/exported"
cd "$(cat "$SESSION/where")"
trap 'code=$?; pwd >"$SESSION/where"; export -p >"$SESSION/exported"; exit $code' EXIT
`

// command is a block as a process of its own group, so that it can be ended with all that it started.
func (s *session) command(ctx context.Context, text string) *exec.Cmd {
	shell := exec.CommandContext(ctx, "bash", "-c", frame+text)
	shell.Env = s.variables
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	shell.Cancel = func() error { return syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) }
	return shell
}

// run runs a block, and returns what it printed and its exit code.
func (s *session) run(t *testing.T, text string) (printed string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := s.command(ctx, text).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		return string(out), exit.ExitCode()
	}
	if err = errors.Join(err, ctx.Err()); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out), 0
}

// A stay is a block that goes on while the blocks after it run.
type stay struct {
	shell *exec.Cmd
	mutex sync.Mutex
	out   bytes.Buffer
	news  chan struct{}
	ended chan error
}

// Write takes what it prints.
func (s *stay) Write(text []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	select {
	case s.news <- struct{}{}:
	default:
	}
	return s.out.Write(text)
}

func (s *stay) printed() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.out.String()
}

// begin starts a block that stays, and waits until it has printed a text.
func (s *session) begin(t *testing.T, text, until string) string {
	t.Helper()
	one := &stay{news: make(chan struct{}, 1), ended: make(chan error, 1)}
	one.shell = s.command(context.Background(), "exec "+strings.TrimSpace(text))
	one.shell.Stdout, one.shell.Stderr = one, one
	if err := one.shell.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { one.ended <- one.shell.Wait() }()
	s.stays = append(s.stays, one)
	enough := time.After(patience)
	for !prints(until, one.printed()) {
		select {
		case <-one.news:
		case err := <-one.ended:
			one.ended <- err
			t.Fatalf("it did not stay: %v: %s", err, one.printed())
		case <-enough:
			t.Fatalf("it did not print\n%sbut\n%s", until, one.printed())
		}
	}
	return one.printed()
}

// end presses Ctrl-C, and wants it to end by that.
func (s *stay) end(t *testing.T) {
	t.Helper()
	_ = syscall.Kill(-s.shell.Process.Pid, syscall.SIGINT)
	select {
	case err := <-s.ended:
		if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != 130 && exit.ExitCode() != -1) {
			t.Errorf("after Ctrl-C: %v: %s", err, s.printed())
		}
	case <-time.After(time.Minute):
		_ = syscall.Kill(-s.shell.Process.Pid, syscall.SIGKILL)
		t.Errorf("a minute after Ctrl-C it is still there: %s", s.printed())
	}
}
