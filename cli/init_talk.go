// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"minos.dev/minos/cli/scaffold"
)

// newTalk returns an asker who asks a person. What is asked are words, so that it goes to stderr. Lines are read aside,
// so that Ctrl-C is heard while nobody types.
func newTalk(ctx context.Context, in io.Reader, out io.Writer) scaffold.Asker {
	lines := make(chan string)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(in)
		for scanner.Scan() {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return func(q scaffold.Question, preset string, wrong error) (string, error) {
		_, _ = io.WriteString(out, asked(q, preset, wrong)) // who cannot be heard will not be answered either
		select {
		case <-ctx.Done():
			_, _ = io.WriteString(out, "\n") // what comes next is no answer
			return "", ctx.Err()
		case line, ok := <-lines:
			if !ok {
				_, _ = io.WriteString(out, "\n")
				return "", errors.New("the answers ended before the last question: nothing was written")
			}
			return cmp.Or(strings.TrimSpace(line), preset), nil
		}
	}
}

// asked is a question as it is printed: what, which answers there are, and what Enter means. After a wrong answer it is
// what was wrong.
func asked(q scaffold.Question, preset string, wrong error) string {
	var b strings.Builder
	if wrong != nil {
		fmt.Fprintf(&b, "  %s\n", wrong)
	} else {
		fmt.Fprintf(&b, "\n%s\n", q.Ask)
		for _, line := range folded(q.Help, helpWidth-2) {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	if len(q.Options) > 0 {
		fmt.Fprintf(&b, "%s ", strings.Join(q.Options, ", "))
	}
	if preset != "" {
		fmt.Fprintf(&b, "[%s]", preset)
	}
	b.WriteString("> ")
	return b.String()
}

// folded is a text in lines of a width.
func folded(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
