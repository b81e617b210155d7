// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// What a script learns from the exit code.
const (
	ExitOK       = 0 // ExitOK is done, or nothing had to change.
	ExitError    = 1 // ExitError is an error.
	ExitChanges  = 2 // ExitChanges is changes pending.
	ExitFindings = 3 // ExitFindings is checks failed.
)

type hintError struct {
	error
	hint string
}

func (e *hintError) Unwrap() error { return e.error }

// Hint returns err with a sentence on what the user can do about it, printed on a line of its own. Of several hints
// the outermost is printed. Hint of nil is nil.
func Hint(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &hintError{error: err, hint: hint}
}

type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// Exit returns err with the exit code it leads to. A nil err says nothing more than the code: what there was to say
// was printed as data. Exit of ExitOK and nil is nil.
func Exit(code int, err error) error {
	if code == ExitOK && err == nil {
		return nil
	}
	return &exitError{code: code, err: err}
}

// about returns an error on a command: its name is the "what" of the line, unless it is the root.
func about(cmd *cobra.Command, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if !cmd.HasParent() {
		return err
	}
	return fmt.Errorf("%s: %w", nameOf(cmd), err)
}

// nameOf is the command as the user typed it, without "minos".
func nameOf(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// interrupted says of an error that the user asked for the end. What the command has to say beyond that is kept, for
// it may be what was left behind.
func interrupted(err error) error {
	exit, coded := errors.AsType[*exitError](err)
	switch {
	case err == nil, coded && exit.code != ExitError:
		return err
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted")
	}
	return fmt.Errorf("interrupted: %w", err)
}

// report prints an error, if it has something to say, and returns the exit code.
func report(w io.Writer, err error) int {
	if err == nil {
		return ExitOK
	}
	code := ExitError
	if exit, ok := errors.AsType[*exitError](err); ok {
		code = exit.code
		if exit.err == nil {
			return code
		}
	}
	lines := "minos: " + oneLine(err.Error()) + "\n"
	if hint, ok := errors.AsType[*hintError](err); ok {
		lines += "hint: " + oneLine(hint.hint) + "\n"
	}
	_, _ = io.WriteString(w, lines) // there is nowhere left to complain
	return code
}

// oneLine keeps the promise of one line for errors that others joined or wrapped over several.
func oneLine(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	return strings.Join(lines, "; ")
}
