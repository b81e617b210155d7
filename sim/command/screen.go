// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"minos.dev/minos/sim/dev"
	"minos.dev/minos/sim/machine"
)

// A screen is a part of a terminal that is drawn anew in place. The cursor is left visible and at its end, so that whoever writes
// next, or ends the program, finds the terminal as it should be.
type screen struct {
	out   io.Writer
	size  func() (width, height int)
	last  string
	drawn int // lines
}

// newScreen returns the screen of a terminal, or nil for what is not one.
func newScreen(out io.Writer) *screen {
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return &screen{out: out, size: func() (int, int) {
		width, height, err := term.GetSize(int(file.Fd()))
		if err != nil || width < 1 || height < 1 {
			return 80, 24
		}
		return width, height
	}}
}

// draw shows lines, in place of those that were drawn before. It writes once, and only what differs from before: nothing flickers.
func (s *screen) draw(lines []string) {
	width, height := s.size()
	lines = fit(lines, width, height)
	text := strings.Join(lines, "\x1b[K\n") + "\x1b[K\n"
	if text == s.last {
		return
	}
	back := ""
	if s.drawn > 0 {
		back = fmt.Sprintf("\x1b[%dA\r", s.drawn)
	}
	_, _ = io.WriteString(s.out, back+text+"\x1b[J") // nobody is left to complain to
	s.last, s.drawn = text, len(lines)
}

// leave lets what was drawn stand, and what is written next begin behind it.
func (s *screen) leave() { s.last, s.drawn = "", 0 }

// fit cuts lines to a window. A line less than its height is drawn, because the cursor stands on the last one.
func fit(lines []string, width, height int) []string {
	most := max(height-1, 1)
	if len(lines) > most {
		cut := len(lines) - most + 1
		lines = append(append([]string{}, lines[:most-1]...), fmt.Sprintf("  … and %d lines more", cut))
	}
	fitted := make([]string, len(lines))
	for at, line := range lines {
		letters := []rune(line)
		if len(letters) > width {
			letters = append(letters[:max(width-1, 0)], '…')
		}
		fitted[at] = string(letters)
	}
	return fitted
}

// portray is how far all is, for a terminal.
func portray(progress dev.Progress) []string {
	lines := []string{fmt.Sprintf("minos dev, %.0fs; simulated time passes %v times as fast", progress.Since.Seconds(), progress.Speed), ""}
	for _, part := range progress.Parts {
		lines = append(lines, fmt.Sprintf("  %-20s %s", dev.Title(part.Part), part.Text))
	}
	for _, cluster := range progress.View.Clusters {
		lines = append(lines, fmt.Sprintf("  %-20s %s", "cluster "+cluster.Name, state(cluster)))
	}
	for _, pool := range progress.View.Pools {
		numbers := fmt.Sprintf("%d of %d machines of role %s in %s; ", pool.Running, pool.Wanted, pool.Role, pool.Place)
		lines = append(lines, fmt.Sprintf("  %-20s %s", "pool "+pool.Name, numbers+state(pool.Object)))
	}
	if len(progress.View.Machines) == 0 {
		return lines
	}
	header := fmt.Sprintf("  %-20s", "MACHINE")
	for _, step := range machine.Steps() {
		header += fmt.Sprintf(" %-*s", columnWidth, strings.ToUpper(string(step)))
	}
	lines = append(lines, "", strings.TrimRight(header, " "))
	for _, one := range progress.View.Machines {
		lines = append(lines, row(one))
	}
	return lines
}

// columnWidth is that of a step.
const columnWidth = 8

// state is what there is to say of a cluster or a pool.
func state(object dev.Object) string {
	if object.Ready {
		return "Ready"
	}
	return "waits for " + object.Step + ": " + object.Waits
}

// row is a machine: a mark for each step that it has reached, and what it waits for.
func row(one dev.Machine) string {
	line := fmt.Sprintf("  %-20s", one.Name)
	for _, step := range one.Steps {
		mark := "·"
		if !step.Reached.IsZero() {
			mark = "✓"
		}
		line += fmt.Sprintf(" %-*s", columnWidth, mark)
	}
	for _, step := range one.Steps {
		if step.Reached.IsZero() && step.Reason != "" {
			return line + " " + step.Reason
		}
	}
	return strings.TrimRight(line, " ")
}
