// SPDX-License-Identifier: Apache-2.0

package secret

import (
	"bytes"
)

// structure reads what a line says: a key and its value, an item, an object on one line, or the rest of a text.
func (s *Scanner) structure(line []byte) {
	column := indent(line)
	rest := line[column:]
	if isComment(rest) {
		s.comment(rest)
		return
	}
	if bytes.HasPrefix(rest, []byte("---")) && !bytes.HasPrefix(rest, []byte("-----BEGIN")) {
		s.closeFrames(column - 1)
		return
	}
	for bytes.HasPrefix(rest, []byte("- ")) {
		s.closeFrames(column)
		step := 1 + indent(rest[1:])
		rest, column = rest[step:], column+step
	}
	if rest = bytes.TrimPrefix(rest, []byte("export ")); len(rest) == 0 {
		return
	}
	switch rest[0] {
	case '}', ']':
		s.closeFrames(column)
		return
	case '{', '[':
		s.closeFrames(column)
		s.flow(rest, column)
		return
	}
	key, value, ok := cutKey(rest)
	if !ok {
		s.item(rest)
		return
	}
	s.pair(column, s.text(key), value)
}

// indent is how many blanks a line begins with.
func indent(line []byte) int {
	at := 0
	for at < len(line) && (line[at] == ' ' || line[at] == '\t') {
		at++
	}
	return at
}

// longestKey bounds what is taken for a key.
const longestKey = 128

// isBare are the characters of a key without quotes.
var isBare = func() (table [256]bool) {
	for _, char := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./@-") {
		table[char] = true
	}
	return table
}()

// cutKey cuts a line into key and value, as YAML, JSON, TOML, HCL and files of variables write them.
func cutKey(text []byte) (key, value []byte, ok bool) {
	end := keyEnd(text)
	after := bytes.TrimLeft(text[end:], " \t")
	if end == 0 || len(after) == 0 {
		return nil, nil, false
	}
	switch after[0] {
	case '=':
	case ':': // without a blank, and without quotes, it is part of a value, as in an address
		if isBare[text[0]] && len(after) > 1 && after[1] != ' ' && after[1] != '\t' {
			return nil, nil, false
		}
	default:
		return nil, nil, false
	}
	return bytes.Trim(text[:end], `"'`), bytes.TrimLeft(after[1:], " \t"), true
}

// keyEnd is where a key ends that a text begins with; zero if it begins with none.
func keyEnd(text []byte) int {
	if len(text) == 0 {
		return 0
	}
	if text[0] == '"' || text[0] == '\'' {
		at := bytes.IndexByte(text[1:min(len(text), longestKey)], text[0])
		if at < 0 {
			return 0
		}
		return at + 2
	}
	end := 0
	for end < len(text) && end < longestKey && isBare[text[end]] {
		end++
	}
	return end
}

// pair reads a key and its value at a column.
func (s *Scanner) pair(column int, key string, value []byte) {
	s.pendingIsWaiting = false
	frame := s.enter(column, key)
	if len(value) == 0 {
		s.pendingIsWaiting = true
		return
	}
	switch value[0] {
	case '{', '[':
		s.flow(value, column+1)
		return
	case '|', '>':
		s.pendingIsWaiting = true
		return
	case '&', '!':
		_, value, _ = bytes.Cut(value, []byte(" ")) // an anchor or a tag stands before the value
	}
	s.scalar(frame, plain(value))
}

// plain is a value without its quotes, and without a comma or a comment behind it.
func plain(value []byte) []byte {
	if len(value) > 0 && (value[0] == '"' || value[0] == '\'') {
		text, _ := quoted(value)
		return text
	}
	if at := bytes.Index(value, []byte(" #")); at >= 0 {
		value = value[:at]
	}
	return bytes.TrimRight(bytes.TrimSpace(value), ",")
}

// quoted returns the text between quotes and how much it took. What has no end goes to the end of the line.
func quoted(text []byte) (inner []byte, taken int) {
	for at := 1; at < len(text); at++ {
		switch {
		case text[at] == '\\' && text[0] == '"':
			at++
		case text[at] == text[0]:
			return text[1:at], at + 1
		}
	}
	return text[1:], len(text)
}

// item reads a line that has no key: an item of a list, or the rest of a value.
func (s *Scanner) item(text []byte) {
	if len(s.frames) == 0 {
		s.value("", nil, plain(text))
		return
	}
	last := s.frames[len(s.frames)-1]
	if s.pendingIsWaiting {
		s.scalar(last, plain(text))
		return
	}
	s.value("", last, plain(text))
}

// comment reads a comment: what is commented out is as readable as the rest. It changes nothing about where the scanner is.
func (s *Scanner) comment(text []byte) {
	text = bytes.TrimLeft(text, "#/<!- \t")
	if len(text) == 0 {
		return
	}
	if key, value, ok := cutKey(text); ok && len(value) > 0 {
		kept := s.frames
		s.frames = append(kept[:len(kept):len(kept)], &frame{indent: 1 << 20, key: s.text(key)})
		s.value(s.text(key), nil, plain(value))
		s.frames = kept
	}
}
