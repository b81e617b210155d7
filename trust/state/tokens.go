// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"minos.dev/minos/trust/token"
)

// LegacyPool is the pool of the one token that is not in a folder.
const LegacyPool = "talos-token"

// Tokens are who may ask. They do not change.
type Tokens struct {
	Set      token.Set
	Warnings []string
}

// tokenPaths are the files to look at.
func (s Sources) tokenPaths() []string {
	if s.Tokens == "" {
		return nil
	}
	return []string{s.Tokens}
}

// readTokens reads the folder.
func (s Sources) readTokens(ctx context.Context) ([]file, error) {
	if s.Tokens == "" {
		return nil, nil
	}
	return readFolder(ctx, "tokens", s.Tokens, token.MaxFile)
}

// newTokens makes a set of the files. A folder that is there and empty is a statement, not a mistake: nobody may ask.
func (s Sources) newTokens(files []file, now time.Time) (*Tokens, error) {
	tokens := &Tokens{}
	var all []token.Token
	for _, file := range files {
		one, err := token.Parse(filepath.Base(file.path), file.text, s.Rules)
		if err != nil {
			return nil, fmt.Errorf("tokens: %w", err)
		}
		all = append(all, one)
	}
	if s.Token != "" {
		legacy, err := tokens.legacy(s, all)
		if err != nil {
			return nil, err
		}
		all = append(all, legacy...)
	}
	set, err := token.NewSet(all)
	if err != nil {
		return nil, fmt.Errorf("tokens: %w", err)
	}
	tokens.Set = set
	tokens.look(now)
	return tokens, nil
}

// legacy is the token of the environment, unless a file has it too: that is how one moves it into the folder.
func (t *Tokens) legacy(s Sources, others []token.Token) ([]token.Token, error) {
	found, weak, err := token.Bare(LegacyPool, s.Token, s.Rules)
	if err != nil {
		return nil, fmt.Errorf("talos-token: %w", err)
	}
	for _, other := range others {
		if found.Same(other) {
			t.warn("the token of TALOS_TOKEN is also in %s, whose rules hold: remove TALOS_TOKEN", other.File)
			return nil, nil
		}
	}
	if weak {
		t.warn("the token of TALOS_TOKEN has less than %d characters and can be guessed: make a longer one", token.MinLength)
	}
	return []token.Token{found}, nil
}

// look warns of what no machine can use.
func (t *Tokens) look(now time.Time) {
	var expired []string
	for _, one := range t.Set.All() {
		if one.Standing(now) == token.Expired {
			expired = append(expired, one.File)
		}
	}
	if len(expired) > 0 {
		t.warn("these tokens have expired, remove them: %s", strings.Join(expired, ", "))
	}
	if len(t.Set.All()) == len(expired) {
		t.warn("there is no token: no machine can get a certificate")
	}
}

func (t *Tokens) warn(format string, args ...any) {
	t.Warnings = append(t.Warnings, fmt.Sprintf(format, args...))
}
