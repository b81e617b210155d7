// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/secret"
)

// past finds the secrets that stand in the history of repositories and not in their files any more.
func past(ctx context.Context, all []*repository, now *walked, source *facts.Source) error {
	known := map[[sha256.Size]byte]bool{} // what stands in the files, or is marked there
	for _, found := range now.found {
		for _, one := range found {
			known[one.Digest] = true
		}
	}
	for _, one := range all {
		past := &history{repository: one, progress: now.progress}
		err := past.scan(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			source.HistoryUnknown = err.Error()
			continue
		}
		source.PastLeaks = append(source.PastLeaks, past.locate(ctx, known)...)
		if reason := past.incomplete(); reason != "" {
			source.HistoryUnknown = reason
		}
	}
	return ctx.Err()
}

// A history is that of one repository, while it is looked at.
type history struct {
	*repository
	progress    func(done, total int)
	total, done atomic.Int64
	missing     atomic.Int64
	broken      error // why commits could not be told

	lock  sync.Mutex
	found map[string]hits // by the name of the version
}

// hits are the secrets of one version of a file.
type hits struct {
	path  string
	found []secret.Found
}

// A version is a content that a file had, by the name that Git gives it, with one of its paths.
type version struct{ name, path string }

// incomplete says why not all of the history was looked at; empty if it was.
func (h *history) incomplete() string {
	switch missing := h.missing.Load(); {
	case h.shallow:
		return "the clone is shallow: only its newest commits are here, and only they were looked at; fetch the rest with git fetch --unshallow"
	case h.broken != nil && missing == 0:
		return h.broken.Error()
	case missing > 0:
		return fmt.Sprintf("the clone is partial: %d versions of files are not here, and nothing is fetched", missing)
	}
	return ""
}

// scan looks at every version of every file once: of all branches, tags, stashes, worktrees, and of what is staged.
func (h *history) scan(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // if one part fails the others end too
	h.found = map[string]hits{}
	lanes := make([]chan version, max(1, runtime.GOMAXPROCS(0)))
	failures := make(chan error, len(lanes)+1)
	var workers sync.WaitGroup
	for at := range lanes {
		lanes[at] = make(chan version, 1024)
		workers.Go(func() {
			if err := h.lane(ctx, lanes[at]); err != nil {
				failures <- err
				cancel()
			}
		})
	}
	err := h.versions(ctx, lanes)
	for _, lane := range lanes {
		close(lane)
	}
	workers.Wait()
	close(failures)
	for failure := range failures {
		if !errors.Is(failure, context.Canceled) {
			return failure
		}
	}
	if h.progress != nil {
		h.progress(int(h.done.Load()), int(h.total.Load()))
	}
	return err
}

// starts are the commits from which the history is followed, beside all names: the stashes below the topmost.
func (h *history) starts(ctx context.Context) ([]byte, error) {
	if _, err := h.run(ctx, "rev-parse", "--verify", "--quiet", "refs/stash"); err != nil {
		return nil, ctx.Err() // there are none
	}
	return h.run(ctx, "rev-list", "--walk-reflogs", "refs/stash")
}

// versions tells all versions of files to the lanes. All of one path go to one lane, because Git keeps them as differences from each
// other.
func (h *history) versions(ctx context.Context, lanes []chan version) error {
	starts, err := h.starts(ctx)
	if err != nil {
		return err
	}
	list := h.command(ctx, "rev-list", "--objects", "--filter=object:type=blob", "--filter-provided-objects", "--missing=print", "--indexed-objects", "--all", "--stdin")
	list.Stdin = bytes.NewReader(starts)
	var complaint bytes.Buffer
	list.Stderr = &complaint
	out, err := list.StdoutPipe()
	if err != nil {
		return err
	}
	if err := list.Start(); err != nil {
		return err
	}
	lines := bufio.NewReaderSize(out, 1<<16)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // the end, or what Git says next
		}
		name, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if strings.HasPrefix(name, "?") {
			h.missing.Add(1)
			continue
		}
		h.total.Add(1)
		select {
		case lanes[laneOf(path, len(lanes))] <- version{name, path}:
		case <-ctx.Done():
		}
	}
	return ended(ctx, list, &complaint)
}

// laneOf chooses a lane by the path.
func laneOf(path string, lanes int) int {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(path)) // never fails
	return int(hash.Sum32() % uint32(lanes))
}

// ended waits for a command, and returns its failure in words.
func ended(ctx context.Context, command *exec.Cmd, complaint *bytes.Buffer) error {
	err := command.Wait()
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	if text, _, _ := strings.Cut(strings.TrimSpace(complaint.String()), "\n"); text != "" {
		return errors.New("git: " + strings.TrimPrefix(text, "fatal: "))
	}
	return fmt.Errorf("git: %w", err)
}

// lane looks at versions, with a process of its own that reads them.
func (h *history) lane(ctx context.Context, versions <-chan version) error {
	reader := h.command(ctx, "cat-file", "--batch", "--buffer")
	var complaint bytes.Buffer
	reader.Stderr = &complaint
	in, err := reader.StdinPipe()
	if err != nil {
		return err
	}
	out, err := reader.StdoutPipe()
	if err != nil {
		return err
	}
	if err := reader.Start(); err != nil {
		return err
	}
	// More are asked for than the process keeps to itself before it answers, so that neither waits for the other for ever.
	asked := make(chan version, 1<<14)
	go func() {
		defer close(asked)
		defer func() { _ = in.Close() }() // which is how the process learns that this is all
		buffered := bufio.NewWriterSize(in, 1<<15)
		for one := range versions {
			if _, err := buffered.WriteString(one.name + "\n"); err == nil {
				asked <- one
			}
		}
		_ = buffered.Flush() // a process that is gone says so by its end
	}()
	failure := h.answers(bufio.NewReaderSize(out, 1<<18), asked)
	if failure != nil {
		_ = reader.Process.Kill() // so that whoever writes to it ends too
		for range asked {         // to its end
		}
	}
	if err := ended(ctx, reader, &complaint); err != nil {
		return err
	}
	return failure
}

// answers reads what was asked for, one after another.
func (h *history) answers(out *bufio.Reader, asked <-chan version) error {
	var kept []byte
	for one := range asked {
		header, err := out.ReadString('\n')
		if err != nil {
			return fmt.Errorf("git: the history ended early: %w", err)
		}
		size, ok := sizeOf(header)
		if !ok {
			h.missing.Add(1)
			continue
		}
		found, buffer, err := content(out, one.path, size, kept)
		if err != nil {
			return err
		}
		kept = buffer
		h.keep(one, found)
	}
	return nil
}

// sizeOf reads how large an answer is; false if there is none.
func sizeOf(header string) (int64, bool) {
	var name, kind string
	var size int64
	if count, err := fmt.Sscan(header, &name, &kind, &size); err != nil || count != 3 {
		return 0, false
	}
	return size, true
}

// content finds the secrets of one version. The buffer is used again.
func content(out *bufio.Reader, path string, size int64, buffer []byte) ([]secret.Found, []byte, error) {
	var found []secret.Found
	if size > largest {
		rest := io.LimitReader(out, size)
		found, err := secret.Read(path, rest)
		if err == nil {
			_, err = io.Copy(io.Discard, rest)
		}
		if err == nil {
			_, err = out.Discard(1) // the line end behind it
		}
		return found, buffer, err
	}
	if int64(cap(buffer)) < size+1 {
		buffer = make([]byte, size+1)
	}
	text := buffer[:size+1]
	if _, err := io.ReadFull(out, text); err != nil {
		return nil, buffer, err
	}
	found = secret.Find(path, text[:size])
	return found, buffer, nil
}

// keep keeps what was found in a version.
func (h *history) keep(one version, found []secret.Found) {
	done := h.done.Add(1)
	if h.progress != nil && done%512 == 0 {
		h.progress(int(done), int(h.total.Load()))
	}
	if len(found) == 0 {
		return
	}
	h.lock.Lock()
	defer h.lock.Unlock()
	h.found[one.name] = hits{one.path, found}
}
