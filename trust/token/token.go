// SPDX-License-Identifier: Apache-2.0

// Package token is the tokens by which machines ask: their files, and the set that a request is held against. It is pure,
// and nothing that it says contains a token or a part of one.
package token

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"time"

	"minos.dev/minos/trust/policy"
)

// MaxTokens bounds a set: every request is compared with every token.
const MaxTokens = 4096

// A Token lets the machines of one pool ask. The token itself is not kept, only its hash.
type Token struct {
	// File is where it came from, and its name among the others of its pool.
	File string
	// Pool is the machines that it is for.
	Pool string
	// NotBefore and Expires bound its life. Zero is no bound.
	NotBefore, Expires time.Time
	// Rules are what its machines may be called.
	Rules policy.Rules

	hash [sha256.Size]byte
}

// A Standing is what a presented token is to us. Only Valid is told to the one who asked.
type Standing string

const (
	// Unknown is none of ours.
	Unknown Standing = "unknown"
	// Early is ours, and its time has not come.
	Early Standing = "early"
	// Expired is ours, and its time is over.
	Expired Standing = "expired"
	// Valid lets the machine ask.
	Valid Standing = "valid"
)

// Standing is what the token is at a time.
func (t Token) Standing(now time.Time) Standing {
	switch {
	case now.Before(t.NotBefore):
		return Early
	case !t.Expires.IsZero() && !now.Before(t.Expires):
		return Expired
	}
	return Valid
}

// Same says whether two are the same token.
func (t Token) Same(other Token) bool { return t.hash == other.hash }

// A Set is all tokens, immutable.
type Set struct{ tokens []Token }

// NewSet puts tokens together. The same token twice would make it a matter of chance which pool a machine belongs to.
func NewSet(tokens []Token) (Set, error) {
	if len(tokens) > MaxTokens {
		return Set{}, fmt.Errorf("%d tokens are more than %d: remove those that have expired", len(tokens), MaxTokens)
	}
	seen := map[[sha256.Size]byte]string{}
	for _, token := range tokens {
		if other, ok := seen[token.hash]; ok {
			return Set{}, fmt.Errorf("%s and %s hold the same token: give each pool its own", other, token.File)
		}
		seen[token.hash] = token.File
	}
	return Set{tokens}, nil
}

// All are the tokens, for those who count and report. They do not change.
func (s Set) All() []Token { return s.tokens }

// Find looks up what was presented. It compares hashes, all of them and each in full, so that the time that it takes
// tells nothing about any token, nor which one it was.
func (s Set) Find(presented string, now time.Time) (Token, Standing) {
	hash := sha256.Sum256([]byte(presented))
	found := -1
	for i := range s.tokens {
		same := subtle.ConstantTimeCompare(s.tokens[i].hash[:], hash[:])
		found = subtle.ConstantTimeSelect(same, i, found)
	}
	if found < 0 {
		return Token{}, Unknown
	}
	return s.tokens[found], s.tokens[found].Standing(now)
}
