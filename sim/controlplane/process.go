// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// ErrInUse says that another process has the folder. One whose starter was killed has it until it has stopped.
var ErrInUse = errors.New("the folder is in use")

// stopGrace is how long a process may take to stop by itself before it is killed.
const stopGrace = 30 * time.Second

// A process is one running minos-kube. It ends when this program does, however that happens: it watches its standard
// input, whose other end closes with us.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	// ready is the rest of the line by which the process said that it is ready.
	ready string
	// words is the end of what it said on standard error.
	words *tail

	done chan struct{}
	err  error
}

// start runs minos-kube and waits for the line that begins with the given words.
func start(ctx context.Context, readyWords string, arguments ...string) (*process, error) {
	program, err := Program()
	if err != nil {
		return nil, err
	}
	// The context bounds the start only: a control plane outlives the call that started it.
	p := &process{cmd: exec.Command(program, append(arguments, "--stop-with-stdin")...), words: &tail{}, done: make(chan struct{})}
	p.cmd.Stderr = p.words
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	line := make(chan string, 1)
	go p.watch(out, readyWords, line)
	select {
	case p.ready = <-line:
		return p, nil
	case <-p.done:
		err := fmt.Errorf("minos-kube %s ended before it was ready: %s", arguments[0], p.words)
		if strings.Contains(p.words.String(), "is in use by another minos-kube") {
			err = fmt.Errorf("%w: %w", ErrInUse, err)
		}
		return nil, err
	case <-ctx.Done():
		return nil, errors.Join(fmt.Errorf("minos-kube %s was not ready in time: %w: %s", arguments[0], ctx.Err(), p.words), p.stop())
	}
}

// watch passes on the ready line and then reads until the process ends, so that it never blocks on its own output.
func (p *process) watch(out io.Reader, readyWords string, line chan<- string) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), readyWords); ok {
			line <- strings.TrimSpace(rest)
		}
	}
	p.err = p.cmd.Wait()
	close(p.done)
}

// stop asks the process to stop and waits until it has. It asks by closing its standard input alone: a signal as well
// would be a second request, and the second means "at once".
func (p *process) stop() error {
	_ = p.stdin.Close() // it fails only if it is closed already
	select {
	case <-p.done:
	case <-time.After(stopGrace):
		_ = p.cmd.Process.Kill()
		<-p.done
		return fmt.Errorf("minos-kube did not stop within %s and was killed", stopGrace)
	}
	if p.err != nil {
		return fmt.Errorf("minos-kube ended badly: %w: %s", p.err, p.words)
	}
	return nil
}

// kill ends the process at once, as a power cut would.
func (p *process) kill() {
	_ = p.cmd.Process.Signal(os.Kill)
	<-p.done
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

// tailSize is enough for the last errors of a process.
const tailSize = 4 << 10

// Write keeps the end.
func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, text...)
	t.kept = t.kept[max(0, len(t.kept)-tailSize):]
	return len(text), nil
}

// String is what was kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.kept))
}
