// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"minos.dev/minos/cli/scaffold"
)

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// TestGettingStartedIsProved holds the page for newcomers to the transcript that runs its commands.
func TestGettingStartedIsProved(t *testing.T) {
	page, err := os.ReadFile("../docs/getting-started.md")
	if err != nil {
		t.Fatal(err)
	}
	transcript, err := os.ReadFile("testdata/getting-started.txt")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, block := range shellBlock.FindAllStringSubmatch(string(page), -1) {
		for line := range strings.Lines(block[1]) {
			command := strings.TrimSpace(line)
			if !strings.HasPrefix(command, "minos ") {
				continue
			}
			shown++
			if !strings.Contains(string(transcript), " "+command+"\n") {
				t.Errorf("no transcript runs %q", command)
			}
		}
	}
	if shown < 5 {
		t.Errorf("only %d commands are shown", shown)
	}
	for _, q := range scaffold.Questions() {
		for _, option := range q.Options {
			if q.Name == "storage" && !strings.Contains(string(page), "`"+option+"`") {
				t.Errorf("the page does not name the storage %s", option)
			}
		}
	}
}
