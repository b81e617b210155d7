// SPDX-License-Identifier: Apache-2.0

package sops

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNotEncrypted says that a text has no SOPS metadata.
var ErrNotEncrypted = errors.New("not encrypted: there is no SOPS metadata")

// ErrEncrypted says that a text has SOPS metadata already.
var ErrEncrypted = errors.New("encrypted already: there is SOPS metadata")

// A NoKeyError says that none of the given identities can decrypt a file.
type NoKeyError struct {
	// Recipients are the age recipients that the file is encrypted for.
	Recipients []string
	// Others are the other kinds of keys that it is encrypted for, for example pgp.
	Others []string
}

// Error names whose key would do.
func (e *NoKeyError) Error() string {
	text := "no key for it: it is encrypted for " + strings.Join(e.Recipients, ", ")
	if len(e.Others) > 0 {
		text += " (and by " + strings.Join(e.Others, ", ") + ", which is not supported here)"
	}
	return text
}

// A TamperedError says that a file is not what was encrypted.
type TamperedError struct {
	// Path is the keys that lead to the value, joined by dots; empty where it is about the whole file.
	Path string
	// Reason is what gives it away.
	Reason string
}

// Error is one line with all of it.
func (e *TamperedError) Error() string {
	text := "changed since it was encrypted: "
	if e.Path != "" {
		text += e.Path + ": "
	}
	return text + e.Reason
}

// A NoRuleError says that no rule of a configuration is for a file.
type NoRuleError struct {
	// Path is that of the file, below the folder of the configuration.
	Path string
	// Rules is how many there are.
	Rules int
}

// Error names the file.
func (e *NoRuleError) Error() string {
	return fmt.Sprintf("creation_rules: none of the %d is for %s", e.Rules, e.Path)
}

// An UnsupportedError says that a file or a rule needs something of SOPS that is not here.
type UnsupportedError struct {
	// What is the thing, in the words of SOPS.
	What string
}

// Error names it and the way out.
func (e *UnsupportedError) Error() string {
	return e.What + " is not supported here: use the program sops for it"
}

// tampered is a TamperedError about the value at a path.
func tampered(path []string, format string, args ...any) error {
	return &TamperedError{Path: strings.Join(path, "."), Reason: fmt.Sprintf(format, args...)}
}
