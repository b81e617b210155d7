// SPDX-License-Identifier: Apache-2.0

// Package remarks is about what people say to the checks: findings that they bear with for a while, notes about what the files do
// not show, and the state from which they come.
package remarks

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// Scope is what a suppression covers.
type Scope string

// The scopes.
const (
	// Line is one line of a file.
	Line Scope = "line"
	// File is a whole file.
	File Scope = "file"
	// Object is one object, and all that is in a cluster if the object is that cluster.
	Object Scope = "object"
	// Folder is what an entry of the folder's settings names.
	Folder Scope = "folder"
)

// A Suppression says that findings of some rules are borne with until a day, and why.
type Suppression struct {
	// Rules are the rules' IDs.
	Rules []string `json:"rules"`
	// Scope is what it covers.
	Scope Scope `json:"scope"`
	// Until is the last day on which it holds, and Reason why somebody wants it.
	Until  string `json:"until"`
	Reason string `json:"reason"`
	// Place is where it stands.
	Place facts.Place `json:"place"`
	// Problem says why it does not count; empty if it does.
	Problem string `json:"problem,omitempty"`

	from, to int    // the lines that it covers
	cluster  string // the cluster that it covers
	glob     string // the files that it covers
	patch    *rule.Patch
}

// Covers says whether a finding is one that it speaks of.
func (s *Suppression) Covers(id string, place facts.Place) bool {
	if s.Problem != "" || !slices.Contains(s.Rules, id) {
		return false
	}
	if s.Scope == Folder {
		return s.glob == "" && place.File == "" || s.glob != "" && matches(s.glob, place.File)
	}
	return s.cluster != "" && s.cluster == place.Cluster || s.holds(place)
}

// holds says whether a place is in the lines that it covers, in its own file.
func (s *Suppression) holds(place facts.Place) bool {
	here := place.Commit == "" && place.File == s.Place.File
	return here && (s.Scope == File || place.Line >= s.from && place.Line <= s.to)
}

// Wide says whether it can cover findings in other files than the one that it stands in.
func (s *Suppression) Wide() bool { return s.Scope == Folder || s.cluster != "" }

// matches says whether a path is one of those that a pattern names: by its wildcards, or as a folder if it ends with a slash.
func matches(glob, file string) bool {
	if strings.HasSuffix(glob, "/") {
		return strings.HasPrefix(file, glob)
	}
	found, err := path.Match(glob, file)
	return err == nil && found
}

// Remove is how it is taken out of its file; nil if that is not a matter of one line.
func (s *Suppression) Remove() *rule.Patch { return s.patch }

// identity is how a rule is called.
var identity = regexp.MustCompile(`^[A-Z]{3}-[0-9]{3}$`)

// spoken is a suppression in words: the rules, and the rest.
var spoken = regexp.MustCompile(`^([^\s,:]*(?:\s*,\s*[^\s,:]+)*)\s*(.*)$`)

// read reads what stands behind the word: "PLT-001, NET-002 until 2027-01-31: reason".
func (s *Suppression) read(text string, now time.Time) {
	parts := spoken.FindStringSubmatch(text)
	s.take(parts[1], parts[2], now)
}

// take takes the rules, and what is said of them.
func (s *Suppression) take(rules, rest string, now time.Time) {
	for _, name := range strings.Split(rules, ",") {
		name = strings.TrimSpace(name)
		if !identity.MatchString(name) {
			s.Problem = fmt.Sprintf("%q is not the ID of a rule: name one such as NET-011, or several with commas between them", name)
			return
		}
		s.Rules = append(s.Rules, name)
	}
	said, dated := strings.CutPrefix(rest, "until ")
	if !dated {
		s.Problem = "it has no end: write the last day after the rule, as in 'until 2027-01-31: reason'"
		return
	}
	day, reason, _ := strings.Cut(said, ":")
	s.settle(day, reason, now)
}

// settle takes the day and the reason, and says what is wrong with them.
func (s *Suppression) settle(day, reason string, now time.Time) {
	s.Until, s.Reason = strings.TrimSpace(day), strings.TrimSpace(reason)
	end, err := time.Parse(time.DateOnly, s.Until)
	switch {
	case err != nil:
		s.Problem = fmt.Sprintf("%q is not a day: write it as in 2027-01-31", s.Until)
	case s.Reason == "":
		s.Problem = "it has no reason: write after the day, and a colon, why the finding is borne with"
	case !now.Before(end.AddDate(0, 0, 1)):
		s.Problem = fmt.Sprintf("it ended on %s: what it covered is a finding again", s.Until)
	}
}
