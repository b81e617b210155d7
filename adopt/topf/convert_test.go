// SPDX-License-Identifier: Apache-2.0

package topf_test

import (
	"flag"
	"testing"

	"minos.dev/minos/adopt"
	"minos.dev/minos/adopt/adopttest"
	"minos.dev/minos/adopt/topf"
)

var update = flag.Bool("update", false, "write what comes out into the stories")

func stories(t testing.TB) []adopttest.Story {
	t.Helper()
	return adopttest.Stories(t, func(bool) string { return "secrets.yaml" })
}

// TestStories converts every story and compares what comes out with what the story says: the files, and the report.
func TestStories(t *testing.T) {
	for _, story := range stories(t) {
		t.Run(story.Name, func(t *testing.T) {
			source, _, err := topf.Read(story.Folder(t), adopt.Given{})
			if err != nil {
				t.Fatal(err)
			}
			result, err := adopt.Convert(source, adopt.Options{})
			if err != nil {
				t.Fatal(err)
			}
			story.Check(t, result, *update)
		})
	}
}
