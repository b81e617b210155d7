// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"
	"time"
)

// asProgram makes of the test's own program the operator's: it is what a process of its own costs that is measured, and a restart
// is one.
const asProgram = "MINOS_TEST_OPERATOR"

// profileFile names files that take where operators spend their time, one for each, if it is set.
const profileFile = "MINOS_TEST_PROFILE"

// becomeProgram runs the operator, if this process is to be one, and does not return then.
func becomeProgram() {
	if os.Getenv(asProgram) == "" {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // which ends when the test asks it to, and when the test is killed
		cancel()
	}()
	stop := func() {}
	if name := os.Getenv(profileFile); name != "" {
		if file, err := os.Create(fmt.Sprintf("%s.%d", name, os.Getpid())); err == nil && pprof.StartCPUProfile(file) == nil {
			stop = pprof.StopCPUProfile
		}
	}
	code := run(ctx, os.Args[1:], os.Environ(), os.Stderr)
	stop()
	os.Exit(code)
}

// A program is an operator that runs as a process of its own.
type program struct {
	t       testing.TB
	cmd     *exec.Cmd
	stdin   io.Closer
	ended   chan struct{}
	err     error // of its end
	words   *words
	metrics string
}

// startProgram starts one. It ends with the test, if it was not stopped before.
func startProgram(t testing.TB, args ...string) *program {
	t.Helper()
	p := &program{t: t, words: &words{}, metrics: freeAddress(t), ended: make(chan struct{})}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd = exec.Command(own, append(args, "--metrics", p.metrics, "--health", "0", "--elect=false")...)
	p.cmd.Env, p.cmd.Stderr = append(os.Environ(), asProgram+"=yes", "MINOS_SIM_TOKEN=sesame"), p.words
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			text := p.words.text.String()
			t.Log(text[max(0, len(text)-1<<12):])
		}
	})
	return p
}

// alive is an error when it has ended.
func (p *program) alive() error {
	select {
	case <-p.ended:
		return fmt.Errorf("the operator has ended: %w: %s", p.err, p.words.text.String())
	default:
		return nil
	}
}

// stop asks it to end, and waits.
func (p *program) stop() {
	p.t.Helper()
	_ = p.stdin.Close()
	<-p.ended
	if p.err != nil {
		p.t.Errorf("the operator ended badly: %v", p.err)
	}
}

// cpu is how much it has computed until now.
func (p *program) cpu() time.Duration { return cpuOf(p.t, p.cmd.Process.Pid) }

// peak is the most memory that it has had, in MB.
func (p *program) peak() float64 { return peakOf(p.t, p.cmd.Process.Pid) }

// numbers are the operator's metrics of a name, added up by the values of labels.
func (p *program) numbers(ctx context.Context, name string, labels ...string) (map[string]float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.metrics+"/metrics", http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	found := map[string]float64{}
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		said, ok := strings.CutPrefix(lines.Text(), name+"{")
		if !ok {
			continue
		}
		var key []string
		for _, label := range labels {
			_, value, _ := strings.Cut(","+said, ","+label+`="`)
			value, _, _ = strings.Cut(value, `"`)
			key = append(key, value)
		}
		value, err := strconv.ParseFloat(said[strings.LastIndex(said, " ")+1:], 64)
		if err != nil {
			return nil, err
		}
		found[strings.Join(key, " ")] += value
	}
	return found, lines.Err()
}

// turns are how often each controller has looked at something, when none looks or is about to.
func (p *program) turns(ctx context.Context) (map[string]float64, error) {
	for _, name := range []string{"workqueue_depth", "controller_runtime_active_workers"} {
		busy, err := p.numbers(ctx, name, "controller")
		if err != nil {
			return nil, err
		}
		for controller, count := range busy {
			if count > 0 {
				return nil, fmt.Errorf("controller %s is busy", controller)
			}
		}
	}
	return p.numbers(ctx, "controller_runtime_reconcile_total", "controller")
}

// freeAddress is a loopback address that nobody listens at.
func freeAddress(t testing.TB) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = free.Close() }()
	return free.Addr().String()
}
