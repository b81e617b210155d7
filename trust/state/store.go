// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"minos.dev/minos/trust/issue"
	"minos.dev/minos/trust/policy"
)

// Sources say where everything comes from.
type Sources struct {
	// CACert and CAKey are files: the issuing authority. Other certificates beside it are accepted too.
	CACert, CAKey string
	// Accepted are files, or folders of files: further authorities that machines are told to accept.
	Accepted []string
	// TLSCert and TLSKey are files: the serving certificate.
	TLSCert, TLSKey string
	// Serving are the names of a serving certificate that the signer makes itself, in the place of those files.
	Serving issue.Names
	// Tokens is the folder of tokens.
	Tokens string
	// Token is one more token, from the environment.
	Token string
	// Own are further names, addresses and networks that no machine may have.
	Own []string
	// Rules hold for tokens that do not say.
	Rules policy.Rules
}

// A State is what a request is answered from. It does not change; either part is nil until it could be read once.
type State struct {
	Identity *Identity
	Tokens   *Tokens
}

// The two parts.
const (
	PartIdentity = "identity"
	PartTokens   = "tokens"
)

// An Event is something that became of a part.
type Event struct {
	Part string
	// Err is why what is there now cannot be used. Without it, the part was taken over.
	Err error
	// Warnings are what is worth a look.
	Warnings []string
}

// A Store keeps the state while the files change.
type Store struct {
	sources Sources
	now     func() time.Time

	current  atomic.Pointer[State]
	problems atomic.Pointer[map[string]string]

	mu       sync.Mutex // one look at a time
	identity part
	tokens   part
}

// part is what is remembered of the last look at one.
type part struct {
	name    string
	paths   []string
	seen    snapshot
	problem string
}

// NewStore makes a store that has read nothing yet.
func NewStore(sources Sources, now func() time.Time) *Store {
	store := &Store{
		sources: sources, now: now,
		identity: part{name: PartIdentity, paths: sources.identityPaths()},
		tokens:   part{name: PartTokens, paths: sources.tokenPaths()},
	}
	store.current.Store(&State{})
	store.problems.Store(&map[string]string{})
	return store
}

// Current is the state. It is never nil.
func (s *Store) Current() *State { return s.current.Load() }

// Problems are why what was last looked at cannot be used, by part. It waits for no look: a disk that hangs must not hang
// those who ask how we are.
func (s *Store) Problems() map[string]string { return *s.problems.Load() }

// Refresh looks at the files, takes over what changed and can be used, and says what happened: nothing, most of the time.
// With force it reads what looks the same.
func (s *Store) Refresh(ctx context.Context, force bool) []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	identity := s.refresh(ctx, &s.identity, force || s.isDue(now), func() (reading, error) {
		files, err := s.sources.readIdentity(ctx)
		if err != nil {
			return reading{}, err
		}
		fresh, err := s.sources.newIdentity(files, s.Current().Identity, now)
		if err != nil {
			return reading{}, err
		}
		return reading{func(state *State) { state.Identity = fresh }, fresh.Warnings}, nil
	})
	if s.isDue(now) {
		s.renew(now)
	}
	tokens := s.refresh(ctx, &s.tokens, force, func() (reading, error) {
		files, err := s.sources.readTokens(ctx)
		if err != nil {
			return reading{}, err
		}
		fresh, err := s.sources.newTokens(files, now)
		if err != nil {
			return reading{}, err
		}
		return reading{func(state *State) { state.Tokens = fresh }, fresh.Warnings}, nil
	})
	found := map[string]string{}
	for _, part := range []part{s.identity, s.tokens} {
		if part.problem != "" {
			found[part.name] = part.problem
		}
	}
	s.problems.Store(&found)
	return append(identity, tokens...)
}

// A reading is what became of files that could be used.
type reading struct {
	put      func(*State)
	warnings []string
}

// refresh looks at one part.
func (s *Store) refresh(ctx context.Context, p *part, force bool, read func() (reading, error)) []Event {
	if !force && p.unchanged(look(ctx, p.paths)) {
		return nil
	}
	var got reading
	seen, err := steady(ctx, p.paths, func() (err error) {
		got, err = read()
		return err
	})
	if ctx.Err() != nil || !p.note(seen, err, force) {
		return nil
	}
	if err != nil {
		return []Event{{Part: p.name, Err: err}}
	}
	s.swap(got.put)
	return []Event{{Part: p.name, Warnings: got.warnings}}
}

// isDue says whether a serving certificate of our own wants renewal.
func (s *Store) isDue(now time.Time) bool {
	identity := s.Current().Identity
	return identity != nil && !identity.renew.IsZero() && !now.Before(identity.renew)
}

// renew is for when the files are of no use and renewal is due: the old authority still is, and so must be its serving
// certificate.
func (s *Store) renew(now time.Time) {
	if renewed, err := s.Current().Identity.renewed(s.sources.Serving, now); err == nil {
		s.swap(func(state *State) { state.Identity = renewed })
	}
}

// swap changes a copy and puts it in place. Only Refresh calls it, one at a time.
func (s *Store) swap(change func(*State)) {
	fresh := *s.Current()
	change(&fresh)
	s.current.Store(&fresh)
}

// unchanged says that there is nothing new and nothing to mend: a part that could not be used is tried again even if its
// files look the same, since a disk can recover.
func (p *part) unchanged(now snapshot) bool { return p.problem == "" && p.seen.same(now) }

// note remembers a look and says whether it is news: a mistake that stays the same is told once.
func (p *part) note(seen snapshot, err error, force bool) bool {
	problem := ""
	if err != nil {
		problem = err.Error()
	}
	news := err == nil || problem != p.problem || force || seen != nil && !p.seen.same(seen)
	p.seen, p.problem = seen, problem
	return news
}

// Watch refreshes at every tick, and at once with force at a nudge, until the context ends.
func (s *Store) Watch(ctx context.Context, every time.Duration, nudge <-chan struct{}, tell func(Event)) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		force := false
		select {
		case <-ctx.Done():
			return
		case <-nudge:
			force = true
		case <-ticker.C:
		}
		for _, event := range s.Refresh(ctx, force) {
			tell(event)
		}
	}
}
