// SPDX-License-Identifier: Apache-2.0

package secret

import (
	"bytes"
)

// A flow reads objects and lists that stand on one line, as JSON and YAML write them.
type flow struct {
	s     *Scanner
	text  []byte
	at    int
	base  int // the column of the outermost mapping
	depth int
}

// flow reads a line with braces or brackets. What it opens and does not close goes on on the lines below, where indentation tells.
func (s *Scanner) flow(text []byte, column int) {
	f := &flow{s: s, text: text, base: column}
	for f.at < len(text) {
		f.step()
	}
	s.closeFrames(column)
}

// column is the one of the mapping that is open.
func (f *flow) column() int { return f.base + f.depth }

// step reads the next sign, or the next text.
func (f *flow) step() {
	switch char := f.text[f.at]; char {
	case '{', '[':
		f.depth++
		f.at++
		f.s.closeFrames(f.column() - 1)
	case '}', ']':
		f.s.closeFrames(f.column() - 1)
		f.depth = max(0, f.depth-1)
		f.at++
	case ',', ' ', '\t', ':':
		f.at++
	case '"', '\'':
		inner, taken := quoted(f.text[f.at:])
		f.at += taken
		f.word(inner)
	default:
		f.bare()
	}
}

// isSign are the characters that end a text without quotes.
var isSign = [256]bool{',': true, '{': true, '}': true, '[': true, ']': true, '"': true}

// bare reads a text without quotes.
func (f *flow) bare() {
	start := f.at
	for f.at < len(f.text) && !isSign[f.text[f.at]] {
		if f.text[f.at] == ':' && (f.at+1 == len(f.text) || f.text[f.at+1] == ' ') {
			break
		}
		f.at++
	}
	f.word(bytes.TrimSpace(f.text[start:f.at]))
}

// word takes a text for a key if a colon follows, and for a value if not.
func (f *flow) word(text []byte) {
	next := f.at + indent(f.text[f.at:])
	if next < len(f.text) && f.text[next] == ':' && len(text) <= longestKey {
		f.at = next + 1
		f.s.enter(f.column(), f.s.text(text))
		return
	}
	if len(f.s.frames) == 0 {
		f.s.value("", nil, text)
		return
	}
	last := f.s.frames[len(f.s.frames)-1]
	if last.indent == f.column() {
		f.s.scalar(last, text)
		return
	}
	if key, value, ok := cutKey(text); ok { // an item such as NAME=value
		f.s.enter(f.column(), f.s.text(key))
		f.s.scalar(f.s.frames[len(f.s.frames)-1], plain(value))
		f.s.closeFrames(f.column() - 1)
		return
	}
	f.s.value("", last, text)
}
