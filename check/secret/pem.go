// SPDX-License-Identifier: Apache-2.0

package secret

import (
	"bytes"
	"encoding/base64"
)

// begin is how a text in PEM begins.
var begin = []byte("-----BEGIN ")

// leastKey is how many characters of base64 a private key has, at least. What has fewer is an example with dots in it.
const leastKey = 24

// A pemKey is a private key that is being read.
type pemKey struct {
	open, locked, mute bool
	label              string
	line               int
	steps              []string
	kind               string
	body               []byte
}

// labelOf is the label of a private key in PEM that a text begins with, and what stands behind it; empty if it is something else.
func labelOf(text []byte) (label string, after []byte) {
	rest, ok := bytes.CutPrefix(text, begin)
	if !ok {
		return "", nil
	}
	name, after, ok := bytes.Cut(rest, []byte("-----"))
	if !ok || len(name) > 40 || !bytes.HasSuffix(name, []byte("PRIVATE KEY")) && !bytes.HasSuffix(name, []byte("PRIVATE KEY BLOCK")) {
		return "", nil
	}
	return string(name), after
}

// keyBegins notes a private key in PEM that begins on a line and goes on below.
func (s *Scanner) keyBegins(line []byte) {
	at := bytes.Index(line, begin)
	if at < 0 {
		return
	}
	label, after := labelOf(line[at:])
	if label == "" || len(bytes.Trim(after, "\"'`, +(){};\\n")) > 0 {
		return
	}
	steps := s.steps()
	s.key = pemKey{open: true, mute: s.mute, label: label, line: s.line, steps: steps, kind: keyKind(s.kind(), label, steps), locked: label == "ENCRYPTED PRIVATE KEY"}
}

// keyLine reads a line of a private key.
func (s *Scanner) keyLine(line []byte) {
	line = bytes.TrimLeft(bytes.TrimSpace(line), "#/*\"'` ")
	line = bytes.TrimRight(line, "\"'`,+\\n ")
	switch {
	case len(line) == 0:
	case bytes.HasPrefix(line, []byte("-----")), bytes.ContainsAny(line, "<>${"), len(s.key.body) > 1<<16:
		s.keyEnds()
	case bytes.Contains(line, []byte("ENCRYPTED")): // Proc-Type: 4,ENCRYPTED
		s.key.locked = true
	case bytes.IndexByte(line, ':') >= 0:
	default:
		s.key.body = append(s.key.body, token(line)...)
	}
}

// keyEnds judges a private key that was read.
func (s *Scanner) keyEnds() {
	key := s.key
	s.key = pemKey{}
	if key.locked || !isKey(key.label, key.body) {
		return
	}
	mute := s.mute
	s.mute = key.mute
	s.tell(hit{kind: key.kind, evidence: "PEM, " + key.label, steps: key.steps, value: key.body, line: key.line})
	s.mute = mute
}

// openssh is how a key of OpenSSH begins, with the name of the cipher under which it is; unlocked is one without.
const (
	openssh  = "b3BlbnNzaC1rZXktdjEA"
	unlocked = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU"
)

// isKey says whether the body of a text in PEM is that of a private key that anybody can use.
func isKey(label string, body []byte) bool {
	if len(body) < leastKey || few(body) {
		return false
	}
	return label != "OPENSSH PRIVATE KEY" || !bytes.HasPrefix(body, []byte(openssh)) || bytes.HasPrefix(body, []byte(unlocked))
}

// inner looks into a value: a private key on one line, a text behind base64, a text with line ends written out.
func (s *Scanner) inner(value []byte) {
	if at := bytes.Index(value, begin); at >= 0 || bytes.Contains(value, []byte(`\n`)) && len(value) > 40 {
		if s.depth < mostNested && bytes.Contains(value, []byte(`\n`)) {
			s.nested(unescape(value))
			return
		}
		if label, after := labelOf(value[max(at, 0):]); label != "" {
			s.keyOnOneLine(label, after)
		}
	}
	for start, end := nextRun(value, 0); start >= 0 && s.depth < mostNested; start, end = nextRun(value, end) {
		if text := decode(value[start:end]); text != nil {
			s.nested(text)
		}
	}
}

// keyOnOneLine judges a private key all of which stands on one line.
func (s *Scanner) keyOnOneLine(label string, after []byte) {
	body, _, _ := bytes.Cut(after, []byte("-----END"))
	body = bytes.Join(bytes.Fields(body), nil)
	if isKey(label, token(body)) && label != "ENCRYPTED PRIVATE KEY" && !bytes.Contains(body, []byte("ENCRYPTED")) {
		steps := s.steps()
		s.tell(hit{kind: keyKind(s.kind(), label, steps), evidence: "PEM, " + label, steps: steps, value: token(body)})
	}
}

// nested reads a text within this one. Its secrets stand on this line.
func (s *Scanner) nested(text []byte) {
	below := NewScanner(s.path)
	below.depth, below.above, below.forms, below.data = s.depth+1, s.steps(), formsIn(text), s.data
	if kind := s.kind(); kind != "" {
		below.frames = append(below.frames, &frame{indent: -1, kind: kind})
	}
	for line := range bytes.Lines(text) {
		below.Line(bytes.TrimRight(line, "\n"))
	}
	for _, found := range below.Close() {
		found.Line = s.line
		found.Path = trimSteps(found.Path)
		found.Evidence += ", in a text within the value"
		found.Marked = found.Marked || s.mute
		s.add(found)
	}
}

// decode opens base64 that holds text; nil if it holds something else.
func decode(run []byte) []byte {
	run = bytes.TrimRight(run, "=")
	encoding := base64.RawStdEncoding
	if bytes.ContainsAny(run, "-_") {
		encoding = base64.RawURLEncoding
	}
	start := make([]byte, shortestRun*3/4)
	if n, err := encoding.Decode(start, run[:min(len(run), shortestRun)/4*4]); err != nil || !isText(start[:n]) {
		return nil
	}
	text := make([]byte, encoding.DecodedLen(len(run)))
	n, _ := encoding.Decode(text, run) // what is cut short is read as far as it goes
	return text[:n]
}

// isText says whether bytes can be read.
func isText(text []byte) bool {
	for _, char := range text {
		if char < ' ' && char != '\n' && char != '\t' && char != '\r' || char >= 0x7f {
			return false
		}
	}
	return true
}

// unescape writes out the line ends, quotes and strokes of a text in quotes.
func unescape(text []byte) []byte {
	plain := make([]byte, 0, len(text))
	for at := 0; at < len(text); at++ {
		if text[at] != '\\' || at+1 == len(text) {
			plain = append(plain, text[at])
			continue
		}
		at++
		switch text[at] {
		case 'n':
			plain = append(plain, '\n')
		case 't':
			plain = append(plain, '\t')
		case 'r':
		default:
			plain = append(plain, text[at])
		}
	}
	return plain
}
