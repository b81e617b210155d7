// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type pool struct {
	Name  string            `json:"name"`
	Roles []string          `json:"roles,omitempty"`
	Notes map[string]string `json:"notes,omitempty"`
}

func TestPrintTable(t *testing.T) {
	for name, tc := range map[string]struct {
		table Table
		want  string
	}{
		"upper-case columns, a mark for what is missing, no blanks at the end": {
			table: Table{Columns: []string{"name", "Roles", "note"}, Rows: [][]string{
				{"workers-of-acme", "compute", "two\nlines\tand a tab"},
				{"b", "", " "},
				{"c"},
			}},
			want: `NAME              ROLES     NOTE
workers-of-acme   compute   two lines and a tab
b                 -         -
c                 -         -
`,
		},
		"without rows it is its header": {
			table: Table{Columns: []string{"name", "role"}},
			want:  "NAME   ROLE\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := Print(&b, FormatTable, nil, func() Table { return tc.table }); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, b.String()); diff != "" {
				t.Errorf("printed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPrintData(t *testing.T) {
	value := []pool{
		{Name: "a", Roles: []string{"compute"}, Notes: map[string]string{"z": "1", "a": "x < y & z"}},
		{Name: "b"},
	}
	for name, tc := range map[string]struct {
		format Format
		want   string
	}{
		"json is indented, in a stable order, without escapes for browsers": {
			format: FormatJSON,
			want: `[
  {
    "name": "a",
    "roles": [
      "compute"
    ],
    "notes": {
      "a": "x < y & z",
      "z": "1"
    }
  },
  {
    "name": "b"
  }
]
`,
		},
		"yaml has the names of json": {
			format: FormatYAML,
			want: `- name: a
  notes:
    a: x < y & z
    z: "1"
  roles:
  - compute
- name: b
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := Print(&b, tc.format, value, nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, b.String()); diff != "" {
				t.Errorf("printed (-want +got):\n%s", diff)
			}
		})
	}
}

// What cannot be written is an error, not half a file.
func TestPrintFails(t *testing.T) {
	for _, format := range []Format{FormatJSON, FormatYAML} {
		var b strings.Builder
		if err := Print(&b, format, func() {}, nil); err == nil || b.Len() > 0 {
			t.Errorf("%s: error %v, wrote %q", format, err, b.String())
		}
	}
	const want = `print as sarif: format "sarif" is not known here`
	if err := Print(&strings.Builder{}, "sarif", 1, nil); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if err := Print(fullDisk{}, FormatJSON, 1, nil); !errors.Is(err, errFull) {
		t.Errorf("error %v, want %v", err, errFull)
	}
}

var errFull = errors.New("no space left")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }
