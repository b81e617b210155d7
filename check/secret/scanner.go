// SPDX-License-Identifier: Apache-2.0

package secret

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
)

// What is looked at of a text that nobody has to trust.
const (
	deepest    = 64      // how many keys lead to a value, at most
	mostNested = 2       // how often a text within a text is opened
	mostFound  = 1000    // how many secrets of one file are told
	LongestRow = 1 << 20 // LongestRow is how long a line may be to be read as one.
)

// A Scanner reads a file line by line.
type Scanner struct {
	path  string
	data  bool  // whether the file holds values rather than a program
	forms forms // which forms can be in it
	depth int   // how many texts it is within

	line             int
	off, passNext    bool   // by marks
	fence            []byte // how the block of Markdown ends that is marked; nil outside of one
	mute             bool   // this line is passed over
	encrypted        bool   // something in it is encrypted by SOPS
	above            []string
	frames, spare    []*frame
	texts            map[string]string // keys that were seen, each kept once
	key              pemKey
	found            []Found
	pendingIsWaiting bool // the value of the last key stands on the next line
}

// A frame is a mapping that is open: where it stands, the key that was read last, and what is known of it as an object.
type frame struct {
	indent int
	key    string
	kind   string  // the value of its key "kind"
	name   string  // the value of its key "name"
	held   []Found // what is a leak if this is a Secret of Kubernetes
}

// NewScanner prepares to read a file.
func NewScanner(path string) *Scanner {
	return &Scanner{path: path, data: holdsValues(path), forms: allForms}
}

// programs are files whose assignments are code. Only what gives itself away by its form is a secret there.
var programs = []string{".go", ".py", ".js", ".ts", ".tsx", ".jsx", ".rs", ".java", ".c", ".h", ".cc", ".cpp", ".rb", ".php", ".nix", ".lua", ".md", ".rst", ".html", ".css", ".txt", ".tpl"}

// holdsValues says by the name of a file whether it holds values.
func holdsValues(path string) bool {
	return !slices.ContainsFunc(programs, func(end string) bool { return strings.HasSuffix(strings.ToLower(path), end) })
}

// Line reads the next line, without its end. One that is too long is read in pieces.
func (s *Scanner) Line(line []byte) {
	s.line++
	s.row(line[:min(len(line), LongestRow)])
	for len(line) > LongestRow {
		line = line[LongestRow:]
		s.more(line[:min(len(line), LongestRow)])
	}
}

// more reads a further piece of a long line. Which keys lead to it is not known; it begins anew where an object has its next key.
func (s *Scanner) more(piece []byte) {
	s.lookFor(piece)
	starts := []int{bytes.Index(piece, []byte(`{"`)), bytes.Index(piece, []byte(`,"`))}
	slices.Sort(starts)
	for _, at := range starts {
		if at >= 0 {
			s.flow(piece[at:], 0)
			return
		}
	}
	s.inner(piece)
}

// row reads a line of bearable length.
func (s *Scanner) row(line []byte) {
	s.mute = s.mark(line)
	if len(s.found) >= mostFound {
		return
	}
	if s.key.open {
		s.keyLine(line)
		return
	}
	line = bytes.TrimRight(line, " \t\r")
	if len(line) == 0 {
		return
	}
	waiting := s.pendingIsWaiting
	s.structure(line)
	if waiting {
		s.pendingIsWaiting = false
	}
	s.lookFor(line)
	if s.mute && (bytes.HasSuffix(line, []byte("|")) || bytes.HasSuffix(line, []byte(":")) || bytes.Contains(line, []byte("| #"))) {
		s.passNext = true // the value stands on the lines below
	}
}

// Close ends the file and returns what was found, in the order of lines.
func (s *Scanner) Close() []Found {
	if s.key.open {
		s.keyEnds()
	}
	s.closeFrames(-1)
	if s.encrypted {
		for at := range s.found {
			s.found[at].Evidence += ", in a file of which other parts are encrypted"
		}
	}
	slices.SortStableFunc(s.found, func(a, b Found) int { return a.Line - b.Line })
	return s.found
}

// closeFrames closes mappings that are indented deeper than a column.
func (s *Scanner) closeFrames(column int) {
	for len(s.frames) > 0 && s.frames[len(s.frames)-1].indent > column {
		last := s.frames[len(s.frames)-1]
		s.frames = s.frames[:len(s.frames)-1]
		s.settle(last)
		s.spare = append(s.spare, last)
	}
}

// text is a short text that stays when the line is gone: the same ones are kept once, since keys repeat.
func (s *Scanner) text(line []byte) string {
	line = line[:min(len(line), longestKey)]
	if kept, ok := s.texts[string(line)]; ok {
		return kept
	}
	kept := string(line)
	if s.texts == nil {
		s.texts = map[string]string{}
	}
	if len(s.texts) < mostFound {
		s.texts[kept] = kept
	}
	return kept
}

// newFrame is one at a column.
func (s *Scanner) newFrame(column int) *frame {
	if len(s.spare) == 0 {
		return &frame{indent: column}
	}
	last := s.spare[len(s.spare)-1]
	s.spare = s.spare[:len(s.spare)-1]
	*last = frame{indent: column, held: last.held[:0]}
	return last
}

// enter notes that a key stands at a column.
func (s *Scanner) enter(column int, key string) *frame {
	s.closeFrames(column)
	if len(s.frames) == 0 || s.frames[len(s.frames)-1].indent < column {
		if len(s.frames) >= deepest {
			return s.frames[len(s.frames)-1]
		}
		s.frames = append(s.frames, s.newFrame(column))
	}
	last := s.frames[len(s.frames)-1]
	last.key = key
	return last
}

// steps are the keys that lead to where the scanner is.
func (s *Scanner) steps() []string {
	steps := slices.Clone(s.above)
	for _, frame := range s.frames {
		steps = append(steps, frame.key)
	}
	return steps
}

// kind is that of the object in which the scanner is, the nearest that says so.
func (s *Scanner) kind() string {
	for at := len(s.frames) - 1; at >= 0; at-- {
		if s.frames[at].kind != "" {
			return s.frames[at].kind
		}
	}
	return ""
}

// A hit is a secret that was seen.
type hit struct {
	kind, evidence string
	steps          []string
	value          []byte
	line           int
}

// make turns a hit into a finding.
func (s *Scanner) make(seen hit) Found {
	steps := seen.steps
	field := ""
	if len(steps) > 0 {
		field = steps[len(steps)-1]
	}
	if seen.line == 0 {
		seen.line = s.line
	}
	return Found{
		Leak: facts.Leak{
			Place: facts.Place{File: s.path, Line: seen.line, Path: strings.Join(steps, ".")}, Kind: seen.kind, Evidence: seen.evidence, Field: field,
		},
		Digest: sha256.Sum256(seen.value), Marked: s.mute,
	}
}

// tell keeps a hit, once for each value of a line.
func (s *Scanner) tell(seen hit) {
	s.add(s.make(seen))
}

// add keeps a finding, once for each value of a line.
func (s *Scanner) add(found Found) {
	for at := len(s.found) - 1; at >= 0 && s.found[at].Line == found.Line; at-- {
		if s.found[at].Digest == found.Digest {
			return
		}
	}
	if len(s.found) < mostFound {
		s.found = append(s.found, found)
	}
}
