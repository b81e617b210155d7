// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"minos.dev/minos/trust/trusttest"
)

// floorVariable makes this test program the floor of the bench, in a process of its own.
const floorVariable = "MINOS_SIGNER_BENCH_FLOOR"

func TestMain(m *testing.M) {
	if folder := os.Getenv(floorVariable); folder != "" {
		floor(folder)
		return
	}
	os.Exit(testInFolder(m))
}

// testInFolder runs the tests with a folder for the program, which goes with them.
func testInFolder(m *testing.M) int {
	folder, err := os.MkdirTemp("", "minos-signer")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	program = sync.OnceValues(func() (string, error) { return build(filepath.Join(folder, "minos-signer")) })
	return m.Run()
}

// program is the real one, built once as a release is.
var program func() (string, error)

func build(path string) (string, error) {
	text, err := exec.Command("go", "build", "-ldflags", "-s -w -X main.version=v0.0.0-test", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, text)
	}
	return path, nil
}

func built(tb testing.TB) string {
	tb.Helper()
	path, err := program()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// A process is a running signer.
type process struct {
	cmd     *exec.Cmd
	listen  string
	out     *text
	err     *text
	stopped chan struct{}
}

// text keeps what a process says.
type text struct {
	mu    sync.Mutex
	lines strings.Builder
}

func (t *text) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines.WriteString(line + "\n")
}

func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lines.String()
}

// launch starts a program and waits until it says in JSON where it listens.
func launch(tb testing.TB, environ []string, path string, args ...string) *process {
	tb.Helper()
	p := &process{cmd: exec.Command(path, args...), out: &text{}, err: &text{}, stopped: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), environ...)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	words, err := p.cmd.StderrPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	where := make(chan string, 1)
	var reading sync.WaitGroup
	reading.Go(func() { scan(out, p.out.add) })
	reading.Go(func() {
		scan(words, func(line string) {
			p.err.add(line)
			var said struct{ Listen string }
			if json.Unmarshal([]byte(line), &said) == nil && said.Listen != "" {
				where <- said.Listen
			}
		})
	})
	go func() {
		reading.Wait()
		_ = p.cmd.Wait() // its exit code is in the state
		close(p.stopped)
	}()
	tb.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.stopped
	})
	select {
	case p.listen = <-where:
	case <-p.stopped:
		tb.Fatalf("it ended: %s", p.err)
	}
	return p
}

func scan(from io.Reader, each func(string)) {
	for scanner := bufio.NewScanner(from); scanner.Scan(); {
		each(scanner.Text())
	}
}

// stop asks it to end and returns its exit code.
func (p *process) stop(tb testing.TB) int {
	tb.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		tb.Fatal(err)
	}
	<-p.stopped
	return p.cmd.ProcessState.ExitCode()
}

// memory is a line of what the system says of its memory, in megabytes: VmRSS is now, VmHWM the most there was.
func (p *process) memory(tb testing.TB, line string) float64 {
	tb.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		tb.Skipf("no /proc: %v", err)
	}
	for have := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(have, line+":"); ok {
			kilobytes, err := strconv.Atoi(strings.Fields(value)[0])
			if err != nil {
				tb.Fatal(err)
			}
			return float64(kilobytes) / 1024
		}
	}
	tb.Fatalf("no %s", line)
	return 0
}

// folder is one with an authority, a serving certificate and a token.
func folder(tb testing.TB) (string, trusttest.CA) {
	tb.Helper()
	path := tb.TempDir()
	ca := trusttest.NewCA(tb, trusttest.Ed25519, time.Now())
	certificate, key := ca.Serving(tb, time.Now(), "127.0.0.1", "api.example.com")
	trusttest.Write(tb, path, map[string]string{
		"ca.crt": string(ca.CrtPEM), "ca.key": string(ca.KeyPEM), "tls.crt": string(certificate), "tls.key": string(key),
	})
	trusttest.Write(tb, filepath.Join(path, "tokens"), map[string]string{"web.yaml": "token: " + trusttest.Token + "\n"})
	return path, ca
}

// flags are those for such a folder.
func flags(path string) []string {
	return []string{
		"--ca-cert", path + "/ca.crt", "--ca-key", path + "/ca.key", "--tls-cert", path + "/tls.crt", "--tls-key", path + "/tls.key",
		"--tokens", path + "/tokens", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0",
	}
}

// asks lets a worker ask with Talos's own client.
func (p *process) asks(tb testing.TB, ca trusttest.CA, token string) error {
	tb.Helper()
	request, _, err := trusttest.NewRequest(ca, "w1", "10.0.1.7")
	if err != nil {
		tb.Fatal(err)
	}
	_, _, err = trusttest.Worker{Endpoints: []string{p.listen}, Accepted: trusttest.Accepted(ca), Token: token}.Ask(tb.Context(), request)
	return err
}

// wait waits for a condition.
func wait(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	deadline, tick := time.After(20*time.Second), time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline:
			tb.Fatalf("it never came about: %s", what)
		case <-tick.C:
		}
	}
}

func TestProgram(t *testing.T) {
	path, ca := folder(t)
	p := launch(t, nil, built(t), flags(path)...)
	if err := p.asks(t, ca, trusttest.Token); err != nil {
		t.Fatal(err)
	}
	wait(t, "the request is in the log", func() bool { return strings.Contains(p.out.String(), `"result":"issued","code":"OK","pool":"web"`) })

	const other = "abcdef.fedcba9876543210"
	trusttest.Write(t, filepath.Join(path, "tokens"), map[string]string{"web.yaml": "token: " + other + "\n"})
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	wait(t, "the files are read again", func() bool { return strings.Count(p.err.String(), `"part":"tokens","tokens":1`) >= 2 })
	if err := p.asks(t, ca, other); err != nil {
		t.Error(err)
	}
	if code := p.stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if said := p.out.String() + p.err.String(); strings.Contains(said, "abcdef") || strings.Contains(said, "BEGIN") || !strings.Contains(said, `"stopped"`) {
		t.Errorf("a token is in what it says, or a key, or not that it stopped:\n%s", said)
	}
}

// TestInThePlaceOfAnother is a sidecar of talos-csr-signer whose image was exchanged.
func TestInThePlaceOfAnother(t *testing.T) {
	path, ca := folder(t)
	p := launch(t, []string{
		"TALOS_TOKEN=" + trusttest.Token, "PORT=" + freePort(t), "CA_CERT_PATH=" + path + "/ca.crt", "CA_KEY_PATH=" + path + "/ca.key",
		"TLS_CERT_PATH=" + path + "/tls.crt", "TLS_KEY_PATH=" + path + "/tls.key", "MINOS_SIGNER_HTTP=off",
	}, built(t))
	_, port, _ := strings.Cut(p.listen, "]:")
	p.listen = "127.0.0.1:" + port
	if err := p.asks(t, ca, trusttest.Token); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(p.err.String(), "running in the place of talos-csr-signer") {
		t.Error("it does not say so")
	}
	if code := p.stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if strings.Contains(p.out.String()+p.err.String(), "abcdef") {
		t.Error("the token is in what it says")
	}
}

// TestSize holds the program to being small: beside every API server there is one.
func TestSize(t *testing.T) {
	const most = 20
	info, err := os.Stat(built(t))
	if err != nil {
		t.Fatal(err)
	}
	if size := float64(info.Size()) / (1 << 20); size > most {
		t.Errorf("the program has %.1f MB, more than %d", size, most)
	}
	path, ca := folder(t)
	p := launch(t, nil, built(t), flags(path)...)
	for range 5 {
		if err := p.asks(t, ca, trusttest.Token); err != nil {
			t.Fatal(err)
		}
	}
	if resident := p.memory(t, "VmRSS"); resident > most {
		t.Errorf("it holds %.1f MB, more than %d", resident, most)
	}
}
