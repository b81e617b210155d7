// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// begin reads a scenario and opens its journal.
func begin(t *testing.T, path, text string) (*journal, error) {
	t.Helper()
	read, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return openJournal(path, read)
}

// TestJournal wants what was written to come back, for the same scenario only.
func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.json")
	written, err := begin(t, path, "seed: 1")
	if err != nil {
		t.Fatal(err)
	}
	written.Elapsed, written.Done, written.Begun = time.Minute, 2, []Call{{Step: 1, Machine: "a"}, {Step: 1, Machine: "b"}}
	written.end([]Call{{Step: 1, Machine: "a"}, {Step: 0, Machine: "b"}})
	if err := written.save(path); err != nil {
		t.Fatal(err)
	}
	got, err := begin(t, path, "seed: 1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(written, got); diff != "" || len(got.Begun) != 1 {
		t.Errorf("%v %s", got.Begun, diff)
	}
	if _, err := begin(t, path, "seed: 2"); err == nil || !strings.Contains(err.Error(), "is the journal of another scenario") {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte(`{"elapsed": 1`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := begin(t, path, "seed: 1"); err == nil || !strings.Contains(err.Error(), path+": it is cut off") {
		t.Error(err)
	}
}

// TestOpen is when there is nothing more to wait for.
func TestOpen(t *testing.T) {
	met, late, endless := Judgement{Met: true}, Judgement{}, Judgement{}
	late.Expectation.By.Duration = time.Minute
	for name, test := range map[string]struct {
		judgements []Judgement
		now        time.Duration
		want       bool
	}{
		"all is met":     {[]Judgement{met}, 0, false},
		"in time":        {[]Judgement{met, late}, time.Minute, true},
		"too late":       {[]Judgement{met, late}, time.Minute + 1, false},
		"at any time":    {[]Judgement{late, endless}, time.Hour, true},
		"nothing at all": {nil, 0, false},
	} {
		if got := (&journal{Judgements: test.judgements}).open(test.now); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestBrief is a duration for people.
func TestBrief(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Hour: "1h", 90 * time.Minute: "1h30m", 30 * time.Minute: "30m", 10 * time.Second: "10s", time.Hour + time.Second: "1h0m1s", 0: "0s",
	} {
		if got := brief(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}
