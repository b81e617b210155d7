// SPDX-License-Identifier: Apache-2.0

package nearest

import "testing"

func TestOf(t *testing.T) {
	commands := []string{"version", "completion", "check", "plan", "pool", "image", "import"}
	for name, tc := range map[string]struct {
		word string
		of   []string
		want string
	}{
		"two letters swapped":              {"versoin", commands, "version"},
		"a letter missing":                 {"verion", commands, "version"},
		"a letter too many":                {"cheeck", commands, "check"},
		"a wrong letter":                   {"chack", commands, "check"},
		"upper case is no slip":            {"VERSION", commands, "version"},
		"the beginning of a name":          {"comp", commands, "completion"},
		"the nearer of two":                {"pln", commands, "plan"},
		"of equals the first":              {"pool", []string{"pood", "poof"}, "pood"},
		"one slip is much for two letters": {"ls", []string{"os"}, "os"},
		"two slips are too much for four":  {"poll", []string{"pear"}, ""},
		"a single letter guesses nothing":  {"v", commands, ""},
		"nothing near":                     {"frobnicate", commands, ""},
		"nothing to choose from":           {"version", nil, ""},
		"an empty word":                    {"", commands, ""},
		"letters, not bytes":               {"größe", []string{"große"}, "große"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Of(tc.word, tc.of); got != tc.want {
				t.Errorf("Of(%q) = %q, want %q", tc.word, got, tc.want)
			}
		})
	}
}

func TestDistance(t *testing.T) {
	for name, tc := range map[string]struct {
		a, b string
		want int
	}{
		"same":            {"output", "output", 0},
		"one missing":     {"ouput", "output", 1},
		"one more":        {"outputt", "output", 1},
		"one wrong":       {"outpat", "output", 1},
		"swapped":         {"otuput", "output", 1},
		"from nothing":    {"", "abc", 3},
		"to nothing":      {"abc", "", 3},
		"all of it":       {"abc", "xyz", 3},
		"swap and a slip": {"versoin", "versio", 2},
	} {
		t.Run(name, func(t *testing.T) {
			if got := distance(tc.a, tc.b); got != tc.want {
				t.Errorf("distance(%q, %q) = %d, want %d", tc.a, tc.b, got, tc.want)
			}
			if got := distance(tc.b, tc.a); got != tc.want {
				t.Errorf("distance(%q, %q) = %d, want %d", tc.b, tc.a, got, tc.want)
			}
		})
	}
}

func TestHint(t *testing.T) {
	if got, want := Hint("gatway", []string{"gateway"}), `, did you mean "gateway"?`; got != want {
		t.Errorf("Hint = %q, want %q", got, want)
	}
	if got := Hint("x", []string{"gateway"}); got != "" {
		t.Errorf("Hint = %q, want nothing", got)
	}
}
