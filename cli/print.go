// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// A Format is a way to print data.
type Format string

// The formats that every command with --output knows.
const (
	FormatTable Format = "table" // FormatTable is for people, and may change.
	FormatJSON  Format = "json"  // FormatJSON is for programs.
	FormatYAML  Format = "yaml"  // FormatYAML is for programs, and for people who like it.
)

// OutputFlag gives a command -o, --output. More formats are those that the command prints itself: Print knows the
// three only.
func OutputFlag(cmd *cobra.Command, more ...Format) *Format {
	format := FormatTable
	value := &choice[Format]{
		value:    &format,
		accepted: append([]Format{FormatTable, FormatJSON, FormatYAML}, more...),
		kind:     "format",
	}
	cmd.Flags().VarP(value, "output", "o", "print as "+orList(value.accepted))
	// It fails for a flag that does not exist or was registered twice; neither can be here.
	_ = cmd.RegisterFlagCompletionFunc("output", value.complete)
	return &format
}

// A Table is what FormatTable shows of a value.
type Table struct {
	Columns []string   // printed in upper case
	Rows    [][]string // an empty or missing cell is printed as "-", so that columns can be cut by a script
}

// Print writes a value in a format. The table is asked for only where it is printed.
func Print(w io.Writer, format Format, value any, table func() Table) error {
	var data []byte
	var err error
	switch format {
	case FormatTable:
		data, err = table().text()
	case FormatJSON:
		data, err = indented(value)
	case FormatYAML:
		data, err = yaml.Marshal(value)
	default:
		err = fmt.Errorf("format %q is not known here", format)
	}
	if err != nil {
		return fmt.Errorf("print as %s: %w", format, err)
	}
	_, err = w.Write(data)
	return err
}

// indented is JSON as a person would write it: "a < b" stays as it is.
func indented(value any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return b.Bytes(), err
}

func (t Table) text() ([]byte, error) {
	header := make([]string, len(t.Columns))
	for i, column := range t.Columns {
		header[i] = strings.ToUpper(column)
	}
	var b bytes.Buffer
	// The last cell of a line ends without a tab, so tabwriter does not pad it.
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	for _, row := range append([][]string{header}, t.Rows...) {
		cells := make([]string, max(len(row), len(header)))
		for i := range cells {
			cells[i] = "-"
			if i < len(row) && strings.TrimSpace(row[i]) != "" {
				cells[i] = strings.Join(strings.Fields(row[i]), " ") // a cell is one line
			}
		}
		_, _ = fmt.Fprintln(w, strings.Join(cells, "\t")) // Flush answers for all
	}
	err := w.Flush()
	return b.Bytes(), err
}

// say writes a line of words for people to stderr.
func say(cmd *cobra.Command, format string, args ...any) {
	_, _ = fmt.Fprintf(cmd.ErrOrStderr(), format+"\n", args...) // there is nowhere left to complain
}

// count is a number of things in words.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
