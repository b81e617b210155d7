// SPDX-License-Identifier: Apache-2.0

package gather_test

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"minos.dev/minos/gather"
)

// What an ordinary repository of some years has.
const (
	benchFiles   = 1000
	benchCommits = 5000
)

// manifest is an ordinary file of such a repository, as it is after a change.
func manifest(file, change int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app-%d\n  namespace: shop\nspec:\n  replicas: %d\n  template:\n    spec:\n      containers:\n", file, change)
	for at := range 20 {
		fmt.Fprintf(&text, "        - name: part-%d\n          image: ghcr.io/shop/part-%d:v1.%d.%d\n          env:\n            - name: TOKEN\n              valueFrom: {secretKeyRef: {name: shop, key: token-%d}}\n            - {name: LEVEL, value: verbose-%d}\n", at, at, file, change, at, change)
	}
	return text.String()
}

// longHistory makes a repository of many commits, as a pack.
func longHistory(b *testing.B) *repo {
	r := newRepo(b)
	var stream bytes.Buffer
	for at := range benchCommits {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter somebody <somebody@example.com> %d +0000\ndata 6\nchange\n", 1_700_000_000+at*60)
		changed := []int{at % benchFiles, (at * 7) % benchFiles}
		if at == 0 {
			changed = nil
			for file := range benchFiles {
				changed = append(changed, file)
			}
		}
		for _, file := range changed {
			text := manifest(file, at)
			fmt.Fprintf(&stream, "M 100644 inline apps/group-%d/app-%d.yaml\ndata %d\n%s\n", file%40, file, len(text), text)
		}
	}
	load := exec.Command("git", "fast-import", "--quiet")
	load.Dir, load.Stdin = r.dir, &stream
	if out, err := load.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	r.git("reset", "--quiet", "--hard", "main")
	return r
}

// BenchmarkHistory gathers a repository with its history, beside a plain git log -p over it. The ratio is what counts: at most 1.5.
func BenchmarkHistory(b *testing.B) {
	r := longHistory(b)
	var ours, theirs time.Duration
	for b.Loop() {
		start := time.Now()
		plain := exec.Command("git", "log", "-p")
		plain.Dir, plain.Stdout = r.dir, io.Discard
		if err := plain.Run(); err != nil {
			b.Fatal(err)
		}
		theirs += time.Since(start)
		start = time.Now()
		source, err := gather.Folder(b.Context(), r.dir, gather.Options{})
		if err != nil || source.HistoryUnknown != "" || len(source.Files) != benchFiles || len(source.PastLeaks) > 0 {
			b.Fatalf("%v %q %d files, %d leaks", err, source.HistoryUnknown, len(source.Files), len(source.PastLeaks))
		}
		ours += time.Since(start)
	}
	b.ReportMetric(ours.Seconds()/theirs.Seconds(), "ratio")
	b.ReportMetric(ours.Seconds()/float64(b.N), "s/gather")
	b.ReportMetric(theirs.Seconds()/float64(b.N), "s/git-log")
}
