// SPDX-License-Identifier: Apache-2.0

package secret

import (
	"bytes"
	"slices"
	"strings"
)

// The marks by which people say that a value is no secret. A reason stands behind a colon.
const (
	lineMark = "minos:not-secret:"
	fileMark = "minos:not-secret-file:"
)

// markedLines is in how many lines at its beginning a whole file can be marked.
const markedLines = 10

// examples are the folders whose files can be marked as a whole.
var examples = []string{"test", "tests", "testdata", "fixtures", "examples"}

// inExamples says whether a path is below a folder of examples.
func inExamples(path string) bool {
	folders := strings.Split(path, "/")
	return slices.ContainsFunc(folders[:len(folders)-1], func(folder string) bool { return slices.Contains(examples, folder) })
}

// marked says whether a line has a mark with a reason.
func marked(line []byte, mark string) bool {
	_, reason, found := bytes.Cut(line, []byte(mark))
	return found && len(bytes.TrimRight(bytes.TrimSpace(reason), "-*/> ")) > 0
}

// mark takes notice of the marks of a line, and says whether the line is passed over.
func (s *Scanner) mark(line []byte) bool {
	if s.off || s.fenced(line) {
		return true
	}
	passed := s.passNext
	s.passNext = false
	if !bytes.Contains(line, []byte("minos:not-secret")) {
		return passed
	}
	if s.line <= markedLines && marked(line, fileMark) && inExamples(s.path) {
		s.off = true
		return true // and so is all that follows
	}
	if !marked(line, lineMark) {
		return passed
	}
	s.passNext = isComment(bytes.TrimLeft(line, " \t"))
	return true
}

// fenced says whether a line is of a block of Markdown that is marked: by a comment on the line before the block begins.
func (s *Scanner) fenced(line []byte) bool {
	if s.fence == nil && !s.passNext {
		return false
	}
	line = bytes.TrimSpace(line)
	if s.fence == nil {
		signs := len(line) - len(bytes.TrimLeft(line, "`"))
		if signs < 3 {
			return false
		}
		s.fence, s.passNext = bytes.Clone(line[:signs]), false
		return true
	}
	if bytes.HasPrefix(line, s.fence) {
		s.fence = nil
	}
	return true
}

// Marked says whether a whole file is marked as one without secrets.
func Marked(path string, text []byte) bool {
	lines := bytes.SplitN(text, []byte("\n"), markedLines+1)
	return inExamples(path) && slices.ContainsFunc(lines[:min(len(lines), markedLines)], func(line []byte) bool { return marked(line, fileMark) })
}

// isComment says whether a line is a comment only.
func isComment(line []byte) bool {
	return bytes.HasPrefix(line, []byte("#")) || bytes.HasPrefix(line, []byte("//")) || bytes.HasPrefix(line, []byte("<!--"))
}
