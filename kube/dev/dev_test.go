// SPDX-License-Identifier: Apache-2.0

package dev

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"minos.dev/minos/kube/box"
)

// outcome is what one run of the command did.
type outcome struct {
	code        int
	out, errors string
}

// call runs the command with a plane that is not there.
func call(plane Run, args ...string) outcome {
	var out, errs bytes.Buffer
	code := Command(plane).Run(box.Call{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs})
	return outcome{code, out.String(), errs.String()}
}

// idle is a plane that is ready at once and stays until told to stop.
func idle(ctx context.Context, spec Spec, ready func()) error {
	defer func() { _ = spec.Listener.Close() }()
	ready()
	<-ctx.Done()
	return nil
}

func TestReadyLine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "cluster")
	got := call(idle, "--dir", dir, "--port", "0", "--stop-with-stdin")
	want := regexp.MustCompile(`^minos-kube ready: https://127\.0\.0\.1:[1-9]\d* kubeconfig=` +
		regexp.QuoteMeta(dir) + `/kubeconfig after=\d+\.\ds\n$`)
	if got.code != 0 || got.errors != "" || !want.MatchString(got.out) {
		t.Errorf("got %+v, want %s", got, want)
	}
	content, err := os.ReadFile(filepath.Join(dir, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	server := strings.Fields(got.out)[2]
	if !strings.Contains(string(content), "server: "+server+"\n") {
		t.Errorf("the kubeconfig does not lead to %s:\n%s", server, content)
	}
}

// TestAddress expects that an address of its own is where it listens, where the kubeconfig leads, and what the certificate
// vouches for.
func TestAddress(t *testing.T) {
	dir := t.TempDir()
	got := call(idle, "--dir", dir, "--address", "127.16.1.1", "--port", "0", "--san", "a.example", "--stop-with-stdin")
	if got.code != 0 || !strings.HasPrefix(got.out, "minos-kube ready: https://127.16.1.1:") {
		t.Fatalf("got %+v", got)
	}
	content, err := os.ReadFile(filepath.Join(dir, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(content), "server: https://127.16.1.1:") {
		t.Errorf("the kubeconfig leads elsewhere:\n%s", content)
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "pki", "apiserver.crt"), filepath.Join(dir, "pki", "apiserver.key"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"127.16.1.1", "127.0.0.1", "a.example"} {
		if err := pair.Leaf.VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
}

func TestDirectoryIsTakenByOne(t *testing.T) {
	dir := t.TempDir()
	var second outcome
	first := call(func(ctx context.Context, spec Spec, ready func()) error {
		second = call(idle, "--dir", dir, "--port", "0", "--stop-with-stdin")
		return idle(ctx, spec, ready)
	}, "--dir", dir, "--port", "0", "--stop-with-stdin")
	if first.code != 0 {
		t.Errorf("the first: %+v", first)
	}
	want := fmt.Sprintf("minos-kube: %s is in use by another minos-kube (pid %d); stop it or choose another --dir\n", dir, os.Getpid())
	if second.code != 1 || second.errors != want || second.out != "" {
		t.Errorf("the second: %+v, want %q", second, want)
	}
	if third := call(idle, "--dir", dir, "--port", "0", "--stop-with-stdin"); third.code != 0 {
		t.Errorf("after the first ended: %+v", third)
	}
}

func TestPortInUse(t *testing.T) {
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	port := strconv.Itoa(taken.Addr().(*net.TCPAddr).Port)
	got := call(idle, "--dir", t.TempDir(), "--port", port)
	want := "minos-kube: port " + port + " on 127.0.0.1 is in use; choose another with --port (0 picks a free one)\n"
	if got.code != 1 || got.errors != want {
		t.Errorf("got %+v, want %q", got, want)
	}
}

func TestFailureNamesTheLog(t *testing.T) {
	dir := t.TempDir()
	got := call(func(_ context.Context, spec Spec, _ func()) error {
		defer func() { _ = spec.Listener.Close() }()
		_, _ = io.WriteString(spec.Log, "the reason\n")
		return errors.New("kube-apiserver stopped by itself")
	}, "--dir", dir, "--port", "0")
	want := "minos-kube: kube-apiserver stopped by itself; " + dir + "/log.txt may say more\n"
	if got.code != 1 || got.out != "" || got.errors != want {
		t.Errorf("got %+v, want %q", got, want)
	}
	if content, _ := os.ReadFile(filepath.Join(dir, "log.txt")); string(content) != "the reason\n" {
		t.Errorf("the log holds %q", content)
	}
}

func TestBrokenKeyIsNamed(t *testing.T) {
	dir := t.TempDir()
	if got := call(idle, "--dir", dir, "--port", "0", "--stop-with-stdin"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "pki", "ca.key"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := call(idle, "--dir", dir, "--port", "0")
	if got.code != 1 || !strings.Contains(got.errors, filepath.Join(dir, "pki", "ca.key")+" is not PEM") {
		t.Errorf("got %+v", got)
	}
}

func TestLogIsBounded(t *testing.T) {
	dir := t.TempDir()
	log, err := openLog(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	line := bytes.Repeat([]byte("x"), 1<<20)
	for range 2*(logLimit>>20) + 3 {
		if _, err := log.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	var total int64
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if len(entries) != 2 || total > 2*logLimit+int64(len(line)) {
		t.Errorf("%d files of %d bytes in all", len(entries), total)
	}
}
