// SPDX-License-Identifier: Apache-2.0

package sops

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// defaultSuffix is what ends a key whose values stay readable, if a rule does not say otherwise.
const defaultSuffix = "_unencrypted"

// A Rule says for whom a file is encrypted and which of its values. Of the four ways to choose values at most one is set;
// a way that matches a key holds for all that is below it.
type Rule struct {
	// Recipients are age recipients, each of which can decrypt the file alone.
	Recipients []string
	// EncryptedRegex encrypts only what is below a key that matches.
	EncryptedRegex string
	// UnencryptedRegex encrypts all but what is below a key that matches.
	UnencryptedRegex string
	// EncryptedSuffix encrypts only what is below a key that ends in it.
	EncryptedSuffix string
	// UnencryptedSuffix encrypts all but what is below a key that ends in it. Without any of the four it is "_unencrypted".
	UnencryptedSuffix string
	// MACOnlyEncrypted leaves values that stay readable out of the checksum, so that other tools may change them.
	MACOnlyEncrypted bool
	// Indent is how far the file is indented: four, if it is zero.
	Indent int
}

// A matcher decides by a rule.
type matcher struct {
	matches          func(key string) bool
	encrypts         bool // what matches, and not the rest
	macOnlyEncrypted bool
}

// matcher compiles a rule.
func (r Rule) matcher() (*matcher, error) {
	ways := []struct {
		word     string
		isRegex  bool
		encrypts bool
	}{
		{r.EncryptedRegex, true, true}, {r.UnencryptedRegex, true, false},
		{r.EncryptedSuffix, false, true}, {r.UnencryptedSuffix, false, false},
	}
	compiled := &matcher{macOnlyEncrypted: r.MACOnlyEncrypted}
	for _, way := range ways {
		switch {
		case way.word == "":
			continue
		case compiled.matches != nil:
			return nil, errors.New("only one of encrypted_regex, unencrypted_regex, encrypted_suffix and unencrypted_suffix can be set")
		}
		compiled.encrypts = way.encrypts
		compiled.matches = func(key string) bool { return strings.HasSuffix(key, way.word) }
		if way.isRegex {
			expression, err := regexp.Compile(way.word)
			if err != nil {
				return nil, fmt.Errorf("the rule's expression: %w", err)
			}
			compiled.matches = expression.MatchString
		}
	}
	if compiled.matches == nil {
		compiled.matches = func(key string) bool { return strings.HasSuffix(key, defaultSuffix) }
	}
	return compiled, nil
}

// covers says whether the value at a path is encrypted.
func (m *matcher) covers(path []string) bool {
	return slices.ContainsFunc(path, m.matches) == m.encrypts
}

// Covers says whether a file that is encrypted by the rule has the value at a path of keys encrypted.
func (r Rule) Covers(path []string) (bool, error) {
	compiled, err := r.matcher()
	if err != nil {
		return false, err
	}
	return compiled.covers(path), nil
}

// metadata starts the metadata of a file that is encrypted by a rule.
func (r Rule) metadata(key []byte) (*metadata, error) {
	if len(r.Recipients) == 0 {
		return nil, errors.New("nobody to encrypt for: a rule needs an age recipient")
	}
	if len(r.Recipients) > maxRecipients {
		return nil, fmt.Errorf("%d recipients, and there may be %d", len(r.Recipients), maxRecipients)
	}
	started := &metadata{
		EncryptedRegex: r.EncryptedRegex, UnencryptedRegex: r.UnencryptedRegex,
		EncryptedSuffix: r.EncryptedSuffix, UnencryptedSuffix: r.UnencryptedSuffix,
		MACOnlyEncrypted: r.MACOnlyEncrypted, Version: formatVersion,
	}
	if r.EncryptedRegex+r.UnencryptedRegex+r.EncryptedSuffix+r.UnencryptedSuffix == "" {
		started.UnencryptedSuffix = defaultSuffix
	}
	for i, recipient := range r.Recipients {
		if slices.Contains(r.Recipients[:i], recipient) {
			continue
		}
		enc, err := wrap(key, recipient)
		if err != nil {
			return nil, err
		}
		started.Age = append(started.Age, entry{Enc: enc, Recipient: recipient})
	}
	return started, nil
}
