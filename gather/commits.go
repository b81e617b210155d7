// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"minos.dev/minos/check/facts"
)

// staged stands in place of a commit for what is in no commit yet.
const staged = "staged"

// A stay is when a version came and went, and where it was.
type stay struct {
	path        string
	first, last string // the commits that brought it, and that took it away
	order       int
}

// locate says of every secret in which commit it came, which one took it away, and in which file; once for each secret. What is
// known already is left out.
func (h *history) locate(ctx context.Context, known map[[sha256.Size]byte]bool) []facts.Leak {
	if len(h.found) == 0 {
		return nil
	}
	var stays map[string]stay
	stays, h.broken = h.stays(ctx)
	names := slices.SortedFunc(maps.Keys(h.found), func(a, b string) int {
		return cmp.Or(cmp.Compare(stays[a].order, stays[b].order), cmp.Compare(a, b))
	})
	told := map[[sha256.Size]byte]bool{}
	var leaks []facts.Leak
	for _, name := range names {
		hits, stay := h.found[name], stays[name]
		path, inside := h.place(cmp.Or(stay.path, hits.path))
		if !inside {
			continue
		}
		for _, found := range hits.found {
			if known[found.Digest] || told[found.Digest] || found.Marked {
				continue
			}
			told[found.Digest] = true
			leak := found.Leak
			leak.File, leak.Commit = path, short(stay.first)
			if stay.first != "" || h.broken == nil {
				leak.Commit = short(cmp.Or(stay.first, staged))
				leak.Evidence += stay.words()
			}
			leaks = append(leaks, leak)
		}
	}
	slices.SortStableFunc(leaks, func(a, b facts.Leak) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return leaks
}

// words say when a version went.
func (s stay) words() string {
	switch {
	case s.first == "":
		return ", staged and not committed"
	case s.last == "":
		return fmt.Sprintf(", since commit %s, on a branch, a tag or a stash", short(s.first))
	}
	return fmt.Sprintf(", from commit %s until commit %s", short(s.first), short(s.last))
}

// short is a commit as people write it.
func short(commit string) string { return commit[:min(len(commit), 12)] }

// stays follows the whole history, the oldest first, for the versions that have secrets.
func (h *history) stays(ctx context.Context) (map[string]stay, error) {
	starts, err := h.starts(ctx)
	if err != nil {
		return nil, err
	}
	list := h.command(ctx, "rev-list", "--all", "--topo-order", "--reverse", "--missing=allow-any", "--stdin")
	list.Stdin = bytes.NewReader(starts)
	commits, err := list.Output()
	if err != nil {
		return nil, inWords(ctx, err)
	}
	compare := h.command(ctx, "diff-tree", "--stdin", "-r", "-m", "--root", "--raw", "--no-renames", "--no-abbrev", "--no-ext-diff", "--no-textconv")
	compare.Stdin = bytes.NewReader(commits)
	var complaint bytes.Buffer
	compare.Stderr = &complaint
	out, err := compare.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := compare.Start(); err != nil {
		return nil, err
	}
	stays := map[string]stay{}
	lines := bufio.NewReaderSize(out, 1<<16)
	for commit := ""; ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // the end, or what Git says next
		}
		if !strings.HasPrefix(line, ":") {
			commit, _, _ = strings.Cut(strings.TrimSpace(line), " ")
			continue
		}
		h.change(stays, commit, strings.TrimSuffix(line, "\n"))
	}
	return stays, ended(ctx, compare, &complaint)
}

// change reads one change of a file in a commit: modes, versions before and after, what was done, the path.
func (h *history) change(stays map[string]stay, commit, line string) {
	about, path, _ := strings.Cut(line, "\t")
	columns := strings.Fields(about)
	if len(columns) < 5 {
		return
	}
	before, after := columns[2], columns[3]
	if _, wanted := h.found[after]; wanted && stays[after].first == "" {
		stays[after] = stay{path: unquote(path), first: commit, order: len(stays) + 1}
	}
	if was, seen := stays[before]; seen {
		was.last = commit
		stays[before] = was
	}
}

// unquote is a path without the quotes that Git puts around unusual ones.
func unquote(path string) string {
	if plain, err := strconv.Unquote(path); err == nil && strings.HasPrefix(path, `"`) {
		return plain
	}
	return path
}
