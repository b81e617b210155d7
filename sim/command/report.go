// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"sigs.k8s.io/yaml"

	"minos.dev/minos/cli"
	"minos.dev/minos/plan/doctor"
	"minos.dev/minos/sim/dev"
)

// A report prints what happens in the development environment: as a table that is drawn anew in a terminal, as lines elsewhere, and
// as one document each for programs.
type report struct {
	out    io.Writer
	format cli.Format

	mutex  sync.Mutex
	screen *screen // nil when lines are printed
}

// newReport returns a report.
func newReport(out io.Writer, format cli.Format) *report {
	r := &report{out: out, format: format}
	if format == cli.FormatTable {
		r.screen = newScreen(out)
	}
	return r
}

// line prints something that happened, unless a table shows it.
func (r *report) line(line dev.Line) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	switch {
	case r.screen != nil:
	case r.format == cli.FormatTable:
		_, _ = fmt.Fprintln(r.out, line) // nobody is left to complain to, and it goes on
	default:
		_ = r.document(told{Seconds: line.After.Seconds(), Line: line})
	}
}

// told is a line for programs.
type told struct {
	Seconds float64 `json:"seconds"`
	dev.Line
}

// document prints a value for programs: a line of JSON, or a document of YAML.
func (r *report) document(value any) error {
	if r.format == cli.FormatJSON {
		return json.NewEncoder(r.out).Encode(value)
	}
	text, err := yaml.Marshal(value)
	if err == nil {
		_, err = r.out.Write(append([]byte("---\n"), text...))
	}
	return err
}

// show draws the table.
func (r *report) show(progress dev.Progress) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.screen != nil {
		r.screen.draw(portray(progress))
	}
}

// end lets the table stand as it is: what follows are lines.
func (r *report) end() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.screen != nil {
		r.screen.leave()
		r.screen = nil
	}
}

// words prints for people.
func (r *report) words(text string) error {
	if r.format != cli.FormatTable {
		return nil
	}
	_, err := fmt.Fprintln(r.out, text)
	return err
}

// findings prints why not all is Ready, as 'minos doctor' does.
func (r *report) findings(found []doctor.Finding) error {
	if r.format != cli.FormatTable {
		return r.document(map[string]any{"findings": found})
	}
	if err := r.words(""); err != nil {
		return err
	}
	return cli.DescribeFindings(r.out, found, time.Now())
}

// A summary is how it ended.
type summary struct {
	Took        time.Duration
	Phases      []dev.Phase
	Speed       float64
	Access      dev.Access
	Suggestions []dev.Suggestion
	Stays       bool
}

// sum prints a summary.
func (r *report) sum(s summary) error {
	if r.format != cli.FormatTable {
		var phases []map[string]any
		for _, phase := range s.Phases {
			phases = append(phases, map[string]any{"phase": phase.Name, "seconds": phase.Took.Seconds()})
		}
		return r.document(map[string]any{"ready": true, "seconds": s.Took.Seconds(), "phases": phases, "speed": s.Speed, "access": s.Access, "try": s.Suggestions})
	}
	text := fmt.Sprintf("\nAll is Ready after %.1fs; simulated time passed %v times as fast as life.\n", s.Took.Seconds(), s.Speed)
	for _, phase := range s.Phases {
		text += fmt.Sprintf("  %-22s %6.1fs  %3.0f%%\n", phase.Name, phase.Took.Seconds(), 100*phase.Took.Seconds()/max(s.Took.Seconds(), 0.001))
	}
	text += fmt.Sprintf("\nCredentials, for you alone:\n  %s (management cluster)\n  %s (the tenant's cluster)\n  %s (its machines)\n",
		s.Access.Management, s.Access.Tenant, s.Access.Talos)
	if s.Stays {
		text += "\nTry, in another terminal:\n"
		for _, one := range s.Suggestions {
			text += fmt.Sprintf("  # %s\n  %s\n", one.About, one.Command)
		}
		text += "\nCtrl-C ends everything; what was made is kept, and the next 'minos dev' goes on with it."
	}
	return r.words(text)
}
