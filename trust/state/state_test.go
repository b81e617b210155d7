// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/trust/token"
	"minos.dev/minos/trust/trusttest"
)

var moment = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// A desk is a folder with everything in it, and a store that reads it at a time that the test sets.
type desk struct {
	*Store
	ca      trusttest.CA
	ca2     trusttest.CA
	folder  string
	time    time.Time
	tokens  *trusttest.Volume
	sources Sources
}

func newDesk(t *testing.T, change func(*Sources)) *desk {
	t.Helper()
	d := &desk{folder: t.TempDir(), time: moment, ca: trusttest.NewCA(t, trusttest.Ed25519, moment), ca2: trusttest.NewCA(t, trusttest.ECDSA, moment)}
	d.tokens = trusttest.NewVolume(t, map[string]string{"web": trusttest.Token})
	d.write(t, d.ca, "api.example.com", "10.0.0.5")
	d.sources = Sources{
		CACert: d.path("ca.crt"), CAKey: d.path("ca.key"), TLSCert: d.path("tls.crt"), TLSKey: d.path("tls.key"), Tokens: d.tokens.Path,
	}
	if change != nil {
		change(&d.sources)
	}
	d.Store = NewStore(d.sources, func() time.Time { return d.time })
	return d
}

func (d *desk) path(name string) string { return filepath.Join(d.folder, name) }

// write writes an authority and a serving certificate of its making.
func (d *desk) write(t *testing.T, ca trusttest.CA, names ...string) {
	t.Helper()
	certificate, key := ca.Serving(t, d.time, names...)
	trusttest.Write(t, d.folder, map[string]string{
		"ca.crt": string(ca.CrtPEM), "ca.key": string(ca.KeyPEM), "tls.crt": string(certificate), "tls.key": string(key),
	})
}

// refresh reads, and returns the events as text.
func (d *desk) refresh(t *testing.T) (found []string) {
	t.Helper()
	for _, event := range d.Refresh(t.Context(), false) {
		text := event.Part + ": taken over"
		if event.Err != nil {
			text = event.Part + ": " + strings.ReplaceAll(strings.ReplaceAll(event.Err.Error(), d.folder, "DIR"), d.tokens.Path, "TOKENS")
		}
		for _, warning := range event.Warnings {
			text += "; " + warning
		}
		found = append(found, text)
	}
	return found
}

func (d *desk) want(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, d.refresh(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRefreshOnlyWhatChanged(t *testing.T) {
	d := newDesk(t, nil)
	if current := d.Current(); current == nil || current.Identity != nil || current.Tokens != nil {
		t.Fatal("it knows something already")
	}
	d.want(t, "identity: taken over", "tokens: taken over")
	d.want(t)
	first := d.Current()
	d.tokens.Project(t, map[string]string{"web": trusttest.Token, "db": "abcdef.1111111111111111"})
	d.want(t, "tokens: taken over")
	if now := d.Current(); now.Identity != first.Identity || len(now.Tokens.Set.All()) != 2 || len(first.Tokens.Set.All()) != 1 {
		t.Error("the wrong part changed, or the old state did")
	}
	d.write(t, d.ca2, "api.example.com")
	d.want(t, "identity: taken over")
	if !d.Current().Identity.Authority.Certificate.Equal(d.ca2.Crt) {
		t.Error("the old authority signs")
	}
	d.tokens.Project(t, map[string]string{"db": "abcdef.1111111111111111"})
	d.want(t, "tokens: taken over")
	if _, standing := d.Current().Tokens.Set.Find(trusttest.Token, moment); standing != token.Unknown {
		t.Errorf("a token that was taken away is %s", standing)
	}
	if events := d.Refresh(t.Context(), true); len(events) != 2 {
		t.Errorf("force read %d parts", len(events))
	}
}

func TestABrokenPartLeavesTheOtherAlone(t *testing.T) {
	d := newDesk(t, nil)
	d.refresh(t)
	before := d.Current()
	trusttest.Write(t, d.folder, map[string]string{"ca.key": string(d.ca2.KeyPEM)})
	d.tokens.Project(t, map[string]string{"web": trusttest.Token, "db": "abcdef.1111111111111111"})
	d.want(t, "identity: ca-key: DIR/ca.key and DIR/ca.crt: the key belongs to none of the certificates", "tokens: taken over")
	d.want(t) // it is told once
	if diff := cmp.Diff(map[string]string{PartIdentity: "ca-key: " + d.path("ca.key") + " and " + d.path("ca.crt") + ": the key belongs to none of the certificates"}, d.Problems()); diff != "" {
		t.Error(diff)
	}
	if now := d.Current(); now.Identity != before.Identity || len(now.Tokens.Set.All()) != 2 {
		t.Error("the old identity is gone, or the new tokens are not there")
	}
	d.tokens.Project(t, map[string]string{"web": trusttest.Token, "db": "short"})
	d.write(t, d.ca, "api.example.com")
	d.want(t, "identity: taken over", "tokens: tokens: db: token has 5 characters: use at least 16, such as those that 'talosctl gen secrets' makes")
	if now := d.Current(); now.Identity == before.Identity || len(now.Tokens.Set.All()) != 2 {
		t.Error("the new identity is not there, or the old tokens are gone")
	}
	d.tokens.Project(t, map[string]string{"web": trusttest.Token})
	d.want(t, "tokens: taken over")
	if len(d.Problems()) > 0 {
		t.Error(d.Problems())
	}
}

func TestTheTokensFolder(t *testing.T) {
	d := newDesk(t, nil)
	d.refresh(t)
	away := d.tokens.Path + "-away"
	if err := os.Rename(d.tokens.Path, away); err != nil {
		t.Fatal(err)
	}
	d.want(t, "tokens: tokens: TOKENS does not exist: mount it there, or set --tokens")
	if _, standing := d.Current().Tokens.Set.Find(trusttest.Token, moment); standing != token.Valid {
		t.Errorf("the token is %s", standing)
	}
	if err := os.Rename(away, d.tokens.Path); err != nil {
		t.Fatal(err)
	}
	d.want(t, "tokens: taken over")
	d.tokens.Project(t, nil)
	d.want(t, "tokens: taken over; there is no token: no machine can get a certificate")
	if _, standing := d.Current().Tokens.Set.Find(trusttest.Token, moment); standing != token.Unknown {
		t.Errorf("a token that was taken away is %s", standing)
	}
	d.tokens.Project(t, map[string]string{"old": "{token: " + trusttest.Token + ", expires: 2020-01-01T00:00:00Z}"})
	d.want(t, "tokens: taken over; these tokens have expired, remove them: old; there is no token: no machine can get a certificate")
	if err := os.Mkdir(filepath.Join(d.tokens.Path, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	d.want(t, "tokens: tokens: TOKENS/folder is not a file")
	if err := os.Remove(filepath.Join(d.tokens.Path, "folder")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(d.tokens.Path, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.want(t, "tokens: tokens: TOKENS/pipe is not a file")
	if err := os.Remove(filepath.Join(d.tokens.Path, "pipe")); err != nil {
		t.Fatal(err)
	}
	trusttest.Write(t, d.tokens.Path, map[string]string{"large": strings.Repeat("a", token.MaxFile+1)})
	d.want(t, "tokens: tokens: TOKENS/large has 65537 bytes, more than 65536")
	if err := os.Remove(filepath.Join(d.tokens.Path, "large")); err != nil {
		t.Fatal(err)
	}
	trusttest.Write(t, d.tokens.Path, map[string]string{".swp": "an editor's"})
	d.want(t, "tokens: taken over; these tokens have expired, remove them: old; there is no token: no machine can get a certificate")
}

func TestLegacyToken(t *testing.T) {
	d := newDesk(t, func(s *Sources) { s.Tokens, s.Token = "", "short" })
	d.want(t, "identity: taken over", "tokens: taken over; the token of TALOS_TOKEN has less than 16 characters and can be guessed: make a longer one")
	if found, standing := d.Current().Tokens.Set.Find("short", moment); found.Pool != LegacyPool || standing != token.Valid {
		t.Errorf("%s is %s", found.Pool, standing)
	}
	d.want(t)
	both := newDesk(t, func(s *Sources) { s.Token = "abcdef.1111111111111111" })
	both.refresh(t)
	if len(both.Current().Tokens.Set.All()) != 2 {
		t.Error("one of the two is missing")
	}
	moved := newDesk(t, func(s *Sources) { s.Token = trusttest.Token })
	moved.want(t, "identity: taken over", "tokens: taken over; the token of TALOS_TOKEN is also in web, whose rules hold: remove TALOS_TOKEN")
	if found, _ := moved.Current().Tokens.Set.Find(trusttest.Token, moment); found.Pool != "web" {
		t.Errorf("it is of the pool %s", found.Pool)
	}
}

// TestSteady turns the link while files are read: a certificate and its key must never be of two turns.
func TestSteady(t *testing.T) {
	volume := trusttest.NewVolume(t, map[string]string{"a": "0", "b": "0"})
	paths := []string{filepath.Join(volume.Path, "a"), filepath.Join(volume.Path, "b")}
	for turn := range 50 {
		reads := 0
		var a, b file
		_, err := steady(t.Context(), paths, func() (err error) {
			if a, err = readFile(t.Context(), "a", paths[0], 100); err != nil {
				return err
			}
			if reads++; reads == 1 {
				volume.Project(t, map[string]string{"a": fmt.Sprint(turn + 1), "b": fmt.Sprint(turn + 1)})
			}
			b, err = readFile(t.Context(), "b", paths[1], 100)
			return err
		})
		if err != nil || string(a.text) != string(b.text) || reads != 2 {
			t.Fatalf("%q and %q after %d readings: %v", a.text, b.text, reads, err)
		}
	}
	_, err := steady(t.Context(), paths, func() error {
		volume.Project(t, map[string]string{"a": "x", "b": "x"})
		return nil
	})
	if !errors.Is(err, errMoving) {
		t.Errorf("what never rests: %v", err)
	}
}

func TestWatch(t *testing.T) {
	d := newDesk(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	events, nudge, done := make(chan Event, 10), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		d.Watch(ctx, time.Millisecond, nudge, func(event Event) { events <- event })
	}()
	want := func(part string) {
		t.Helper()
		select {
		case event := <-events:
			if event.Part != part || event.Err != nil {
				t.Errorf("%+v", event)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("nothing happened to the %s", part)
		}
	}
	want(PartIdentity)
	want(PartTokens)
	d.tokens.Project(t, map[string]string{"db": trusttest.Token})
	want(PartTokens)
	nudge <- struct{}{}
	want(PartIdentity)
	want(PartTokens)
	cancel()
	<-done
}
