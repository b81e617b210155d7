// SPDX-License-Identifier: Apache-2.0

package load

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

// A chunk is the text of one YAML document and the number of lines before it in its file.
type chunk struct {
	text   []byte
	before int
}

// split cuts a file at its document markers. It works on lines, as kubectl does, so that the line numbers of each
// document can be given in terms of the file.
func split(text []byte) []chunk {
	var chunks []chunk
	start, line := 0, 0
	chunks = append(chunks, chunk{})
	for offset := 0; offset < len(text); line++ {
		end := offset + len(text[offset:])
		if i := bytes.IndexByte(text[offset:], '\n'); i >= 0 {
			end = offset + i + 1
		}
		if isMarker(text[offset:end]) {
			chunks[len(chunks)-1].text = text[start:offset]
			chunks = append(chunks, chunk{before: line + 1})
			start = end
		}
		offset = end
	}
	chunks[len(chunks)-1].text = text[start:]
	return chunks
}

// isMarker says whether a line begins a new document. Something may follow the dashes only after a comment sign:
// content on the marker's own line is legal YAML that nobody writes by hand.
func isMarker(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("---"))
	rest = bytes.TrimSpace(rest)
	return ok && (len(rest) == 0 || rest[0] == '#')
}

// lineInMessage finds the line that the YAML libraries name in their errors.
var lineInMessage = regexp.MustCompile(`line (\d+): `)

// syntaxProblem turns an error of a YAML library into a problem at the right line of the file.
func syntaxProblem(file string, part chunk, err error) Problem {
	text, line := err.Error(), 1
	if found := lineInMessage.FindStringSubmatchIndex(text); found != nil {
		line, _ = strconv.Atoi(text[found[2]:found[3]])
		text = text[found[1]:]
	}
	text, _, _ = strings.Cut(strings.TrimPrefix(text, "yaml: "), "\n")
	return Problem{File: file, Line: part.before + line, Text: "this is not valid YAML: " + text}
}
