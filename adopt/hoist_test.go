// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/adopt/patch"
)

// stepsOf reads steps as short texts: "a=1" sets a value, "l+x" appends to a list, "-a" removes.
func stepsOf(t *testing.T, text string) []Step {
	t.Helper()
	var steps []Step
	for word := range strings.FieldsSeq(text) {
		fields := patch.Document{}
		name, value, isValue := strings.Cut(word, "=")
		list, item, isList := strings.Cut(word, "+")
		switch {
		case isValue:
			fields[name] = value
		case isList:
			fields[list] = []any{item}
		default:
			fields[strings.TrimPrefix(word, "-")] = patch.Document{patch.Deletion: "delete"}
		}
		steps = append(steps, Step{Origin: Origin{File: word}, Patches: []Patch{{Fields: fields}}})
	}
	return steps
}

func shown(steps []Step) string {
	var words []string
	for _, step := range steps {
		words = append(words, step.Origin.File)
	}
	return strings.Join(words, " ")
}

func TestHoist(t *testing.T) {
	tests := map[string]struct {
		lists []string
		want  []string // what moved up, and what remains of each list
	}{
		"nothing in common":            {[]string{"a=1", "a=2"}, []string{"", "a=1", "a=2"}},
		"all in common":                {[]string{"a=1 b=2", "a=1 b=2"}, []string{"a=1 b=2", "", ""}},
		"the order of the first":       {[]string{"a=1 b=2", "b=2 a=1"}, []string{"a=1 b=2", "", ""}},
		"some of it":                   {[]string{"a=1 x=1 b=2", "a=1 b=2 y=1"}, []string{"a=1 b=2", "x=1", "y=1"}},
		"what it would pass cares":     {[]string{"x=1 x=2", "x=2"}, []string{"", "x=1 x=2", "x=2"}},
		"most do not care":             {[]string{"x=1 x=2", "x=2", "x=2"}, []string{"x=2", "x=1 x=2", "", ""}},
		"a list that would be doubled": {[]string{"l+a l+b", "l+b", "l+b"}, []string{"", "l+a l+b", "l+b", "l+b"}},
		"a list that passes nothing":   {[]string{"l+b l+a", "l+b", "l+b"}, []string{"l+b", "l+a", "", ""}},
		"removing what is set before":  {[]string{"x=1 -x", "-x", "-x"}, []string{"", "x=1 -x", "-x", "-x"}},
		"another order that matters":   {[]string{"x=1 x=2", "x=2 x=1"}, []string{"", "x=1 x=2", "x=2 x=1"}},
		"twice the same":               {[]string{"a=1 a=1", "a=1"}, []string{"a=1", "a=1", ""}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var lists []*[]Step
			for _, text := range test.lists {
				steps := stepsOf(t, text)
				lists = append(lists, &steps)
			}
			got := []string{shown(hoist(lists, func(Step) bool { return true }))}
			for _, list := range lists {
				got = append(got, shown(*list))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			sameOutcome(t, test.lists, got)
		})
	}
}

// sameOutcome applies the steps of each list as they were, and as they are now with what moved up before them.
func sameOutcome(t *testing.T, before, after []string) {
	t.Helper()
	for i, text := range before {
		was, is := outcome(stepsOf(t, text)), outcome(stepsOf(t, after[0]+" "+after[i+1]))
		if was != is {
			t.Errorf("list %d leads to %s and not to %s", i, is, was)
		}
	}
}

// outcome applies steps as Talos would.
func outcome(steps []Step) string {
	values := map[string]string{}
	for _, step := range steps {
		for key, value := range step.Patches[0].Fields {
			switch value := value.(type) {
			case string:
				values[key] = value
			case []any:
				values[key] += fmt.Sprint(value)
			default:
				delete(values, key)
			}
		}
	}
	return fmt.Sprint(values)
}

func TestLabel(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain", "Mixed_Lab": "mixed-lab", "--a..b--": "a-b", "ÄÖ": "", "a/b c": "a-b-c", strings.Repeat("x", 50): strings.Repeat("x", 40),
	} {
		if got := label(text, longestCluster); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
