// SPDX-License-Identifier: Apache-2.0

package secret

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"io"

	"minos.dev/minos/check/facts"
)

// A Found secret is a leak, and a fingerprint by which the same secret is known again in another version of a file. The
// fingerprint is for comparing within one run: it is never shown or kept, because short secrets can be guessed from it.
type Found struct {
	facts.Leak
	// Digest is the fingerprint of the value.
	Digest [sha256.Size]byte
	// Marked says that somebody marked it as no secret.
	Marked bool
}

// Scan returns the secrets that stand readable in a file.
func Scan(path string, text []byte) []facts.Leak {
	var leaks []facts.Leak
	for _, found := range Find(path, text) {
		if !found.Marked {
			leaks = append(leaks, found.Leak)
		}
	}
	return leaks
}

// Read is [Find] for a file that is too large to be held at once.
func Read(path string, from io.Reader) ([]Found, error) {
	buffered := bufio.NewReaderSize(from, LongestRow)
	if start, err := buffered.Peek(head); Binary(start) || len(start) == 0 {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return nil, err
	}
	scanner := NewScanner(path)
	for again := false; ; {
		line, more, err := buffered.ReadLine()
		if errors.Is(err, io.EOF) {
			return scanner.Close(), nil
		}
		if err != nil {
			return nil, err
		}
		if again {
			scanner.more(line)
		} else {
			scanner.Line(line)
		}
		again = more
	}
}

// Find is [Scan] with fingerprints, and with what is marked.
func Find(path string, text []byte) []Found {
	if Binary(text) {
		return nil
	}
	forms := formsIn(text)
	if forms == 0 && !interesting(text) {
		return nil
	}
	scanner := NewScanner(path)
	scanner.forms = forms
	for len(text) > 0 {
		line := text
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			line, text = text[:end], text[end+1:]
		} else {
			text = nil
		}
		scanner.Line(line)
	}
	return scanner.Close()
}

// head is how much of a file decides whether it is text.
const head = 8000

// Binary says whether a file is no text, as Git decides it: by a zero byte near its beginning.
func Binary(text []byte) bool {
	return bytes.IndexByte(text[:min(len(text), head)], 0) >= 0
}
