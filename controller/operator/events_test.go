// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"strings"
	"testing"
	"unicode/utf8"

	"k8s.io/client-go/tools/events"
)

// TestBrief cuts events that the API server would refuse, and no others.
func TestBrief(t *testing.T) {
	taken := events.NewFakeRecorder(2)
	recorder := brief{taken}
	recorder.Eventf(nil, nil, "Normal", "Reason", "Action", "%s of %d", "100%", 3)
	if got := <-taken.Events; got != "Normal Reason 100% of 3" {
		t.Errorf("it became %q", got)
	}
	recorder.Eventf(nil, nil, "Normal", "Reason", "Action", "%s", strings.Repeat("ü", longest))
	note := strings.TrimPrefix(<-taken.Events, "Normal Reason ")
	if len(note) > longest || len(note) < longest-8 || !strings.HasSuffix(note, "ü…") || !utf8.ValidString(note) {
		t.Errorf("it became %d bytes: …%q", len(note), note[len(note)-8:])
	}
}
