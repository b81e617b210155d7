// SPDX-License-Identifier: Apache-2.0

// Package file keeps what a simulation must find again after it was killed: small files that are written whole or not at all,
// and that are read strictly. It does not wait for the disk: it is about programs that are killed, not about computers.
package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Unfinished is how the name of a file ends that is being written. After a kill it is as if it had never been.
const Unfinished = ".new"

// Stage writes text beside a file, and returns what puts it in the file's place in one step.
func Stage(path string, text []byte) (commit func() error, err error) {
	if err := os.WriteFile(path+Unfinished, text, 0o600); err != nil {
		return nil, err
	}
	return func() error { return os.Rename(path+Unfinished, path) }, nil
}

// Write writes a file that only its owner can read. Whoever reads it finds all of the old or all of the new.
func Write(path string, text []byte) error {
	commit, err := Stage(path, text)
	if err != nil {
		return err
	}
	return commit()
}

// WriteJSON writes a value in the same way.
func WriteJSON(path string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return Write(path, text)
}

// ReadJSON reads what WriteJSON wrote, and says whether there was a file. A file with anything else in it is an error that
// names it: what cannot be understood is never taken for nothing.
func ReadJSON(path string, value any) (found bool, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	switch err := decoder.Decode(value); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return true, fmt.Errorf("%s: it is cut off", path)
	case err != nil:
		return true, fmt.Errorf("%s: %w", path, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return true, fmt.Errorf("%s: there is something behind its end", path)
	}
	return true, nil
}
