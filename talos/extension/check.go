// SPDX-License-Identifier: Apache-2.0

package extension

import (
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"minos.dev/minos/api/nearest"
	api "minos.dev/minos/api/v1alpha1"
)

// An UnavailableError says that a release has no such extension, why, and what to do.
type UnavailableError struct {
	// Name is the extension as it was asked for.
	Name string
	// Why is the rest of the sentence.
	Why string
}

// Error is the sentence.
func (e *UnavailableError) Error() string {
	return fmt.Sprintf("system extension %q %s", e.Name, e.Why)
}

// Check says whether an extension can be in an image. The answer is nil, an *UnavailableError, or an error about the form
// of the version.
func (c *Catalogue) Check(name string, version api.TalosVersion, architecture api.Architecture) error {
	release, err := semver.ParseTolerant(string(version))
	if err != nil {
		return fmt.Errorf("talos version %q: %w", version, err)
	}
	unavailable := func(format string, args ...any) error {
		return &UnavailableError{Name: name, Why: fmt.Sprintf(format, args...)}
	}
	e, found := c.Find(name)
	switch {
	case !found:
		return unavailable("does not exist%s", c.hint(name))
	case c.in(e, release):
	case e.ReplacedBy != "":
		return unavailable("was renamed after %s: write %q", e.Until, e.ReplacedBy)
	case e.Until != "":
		return unavailable("was removed after %s: no release since has it", e.Until)
	default:
		return unavailable("exists since %s, and not in %s: choose a newer Talos version, or do without", e.Since, version)
	}
	if len(e.Architectures) > 0 && !slices.Contains(e.Architectures, architecture) {
		return unavailable("has nothing for %s: it is for %v only", architecture, e.Architectures)
	}
	return nil
}

// hint offers the nearest name with the releases that have it.
func (c *Catalogue) hint(name string) string {
	var names []string
	for _, e := range c.Extensions {
		names = append(names, e.Name)
	}
	near := nearest.Of(strings.TrimPrefix(name, Prefix), names)
	if near == "" {
		return ": 'minos image extensions' lists those that do"
	}
	e, _ := c.Find(near)
	since := "since " + e.Since
	if e.Since == c.Tags[0] {
		since = "in every release"
	}
	if e.Until != "" {
		since = fmt.Sprintf("from %s to %s", e.Since, e.Until)
	}
	return fmt.Sprintf(", did you mean %q (%s)?", near, since)
}

// Missing returns what an image with these extensions lacks: extensions that others in it require, each as a sentence.
func (c *Catalogue) Missing(names []string) []string {
	has := map[string]bool{}
	for _, name := range names {
		has[strings.TrimPrefix(name, Prefix)] = true
	}
	var missing []string
	for _, name := range slices.Sorted(slices.Values(names)) {
		e, _ := c.Find(name)
		for _, required := range e.Requires {
			if !has[required] {
				missing = append(missing, fmt.Sprintf("%s needs %s in the same image", e.Name, required))
			}
		}
		if len(e.RequiresOneOf) > 0 && !slices.ContainsFunc(e.RequiresOneOf, func(r string) bool { return has[r] }) {
			missing = append(missing, fmt.Sprintf("%s needs one of %s in the same image", e.Name, strings.Join(e.RequiresOneOf, ", ")))
		}
	}
	return missing
}
