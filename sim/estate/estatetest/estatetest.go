// SPDX-License-Identifier: Apache-2.0

// Package estatetest helps tests that start the whole: it has the operator's program built from the sources as they are, and looks
// for what an estate has left behind.
package estatetest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// built is the operator's program, which is built once by a test's program.
var built = sync.OnceValues(func() (string, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	// Go leaves alone what is up to date, and replaces in one step what is not. Another program that does the same at the same
	// time has a file of its own until then.
	folder := filepath.Join(strings.TrimSpace(string(root)), "bin", "test")
	mine := filepath.Join(folder, "minos-operator."+strconv.Itoa(os.Getpid()))
	final := filepath.Join(folder, "minos-operator")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return "", err
	}
	if err := os.Link(final, mine); err != nil && !os.IsNotExist(err) {
		return "", err
	}
	defer func() { _ = os.Remove(mine) }()
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", mine, "minos.dev/minos/cmd/minos-operator")
	if words, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the operator: %w: %s", err, words)
	}
	return final, os.Rename(mine, final)
})

// Operator is the operator's program, built from the sources as they are.
func Operator(t testing.TB) string {
	t.Helper()
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// A Process is one that runs on this machine.
type Process struct {
	ID      int
	Command string
}

// Processes are those whose command mentions a folder, this one left out.
func Processes(t testing.TB, folder string) []Process {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []Process
	for _, file := range files {
		text, err := os.ReadFile(file)
		id, notNumber := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || notNumber != nil || id == os.Getpid() {
			continue // it has ended meanwhile
		}
		if bytes.Contains(text, []byte(folder)) {
			found = append(found, Process{ID: id, Command: string(bytes.ReplaceAll(text, []byte{0}, []byte{' '}))})
		}
	}
	return found
}

// Listeners are the addresses with ports at which somebody listens on this machine, those that begin so.
func Listeners(t testing.TB, prefixes ...string) []string {
	t.Helper()
	text, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[3] != "0A" { // which is LISTEN
			continue
		}
		var number uint32
		var port uint16
		if _, err := fmt.Sscanf(fields[1], "%08X:%04X", &number, &port); err != nil {
			t.Fatal(err)
		}
		at := fmt.Sprintf("%d.%d.%d.%d:%d", byte(number), byte(number>>8), byte(number>>16), byte(number>>24), port)
		for _, prefix := range prefixes {
			if strings.HasPrefix(at, prefix) {
				found = append(found, at)
			}
		}
	}
	return found
}
