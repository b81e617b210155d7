// SPDX-License-Identifier: Apache-2.0

// Package process runs programs that end when this one does, however that happens.
package process

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// stopGrace is how long a process may take to stop by itself before it is killed.
const stopGrace = 30 * time.Second

// A Command is what is run.
type Command struct {
	// Program is its file.
	Program string
	// Args are its arguments, and Environment what it has beside our own.
	Args, Environment []string
	// Ready are the words with which the line begins by which it says, on standard output, that it is ready. Without them it is
	// ready when it runs.
	Ready string
	// Signal asks it to stop. Without one it is asked by the end of its standard input alone, which is also how it hears of our
	// own end.
	Signal os.Signal
	// Words takes what it says on standard error; nil for nobody.
	Words io.Writer
}

// name is what errors call it.
func (c Command) name() string {
	name := filepath.Base(c.Program)
	if len(c.Args) > 0 && !strings.HasPrefix(c.Args[0], "-") {
		name += " " + c.Args[0]
	}
	return name
}

// A Process runs. It ends when this program does: the kernel ends it, where it can be asked to, and its standard input ends.
type Process struct {
	command Command
	cmd     *exec.Cmd
	stdin   io.Closer
	ready   string
	words   *tail

	done chan struct{}
	err  error
}

// Start runs a command and returns when it is ready. The context bounds the start only: a process outlives the call.
func Start(ctx context.Context, command Command) (*Process, error) {
	p := &Process{command: command, cmd: exec.Command(command.Program, command.Args...), words: &tail{}, done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), command.Environment...)
	p.cmd.SysProcAttr = withParent()
	p.cmd.Stderr = io.Writer(p.words)
	if command.Words != nil {
		p.cmd.Stderr = io.MultiWriter(p.words, command.Words)
	}
	var err error
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
	go p.watch(out, line)
	if command.Ready == "" {
		return p, nil
	}
	select {
	case p.ready = <-line:
		return p, nil
	case <-p.done:
		return nil, fmt.Errorf("%s ended before it was ready: %s", command.name(), p.words)
	case <-ctx.Done():
		return nil, errors.Join(fmt.Errorf("%s was not ready in time: %w: %s", command.name(), ctx.Err(), p.words), p.Stop())
	}
}

// watch passes on the ready line and then reads until the process ends, so that it never blocks on its own output.
func (p *Process) watch(out io.Reader, line chan<- string) {
	lines := bufio.NewScanner(out)
	said := false
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), p.command.Ready); ok && p.command.Ready != "" && !said {
			said = true
			line <- strings.TrimSpace(rest)
		}
	}
	_, _ = io.Copy(io.Discard, out) // what is left after a line that is too long
	p.err = p.cmd.Wait()
	close(p.done)
}

// Ready is the rest of the line by which it said that it is ready.
func (p *Process) Ready() string { return p.ready }

// ID is its number.
func (p *Process) ID() int { return p.cmd.Process.Pid }

// Done is closed when it has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Words is the end of what it said on standard error.
func (p *Process) Words() string { return p.words.String() }

// Stop asks the process to stop and waits until it has. It asks once: to many programs a second request means "at once".
func (p *Process) Stop() error {
	if p.command.Signal == nil {
		_ = p.stdin.Close() // it fails only if it is closed already
	} else {
		_ = p.cmd.Process.Signal(p.command.Signal) // it fails only if it has ended
	}
	select {
	case <-p.done:
	case <-time.After(stopGrace):
		p.Kill()
		return fmt.Errorf("%s did not stop within %s and was killed", p.command.name(), stopGrace)
	}
	if p.err != nil {
		return fmt.Errorf("%s ended badly: %w: %s", p.command.name(), p.err, p.words)
	}
	return nil
}

// Kill ends the process at once, as a power cut would. One that has ended is left alone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
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
