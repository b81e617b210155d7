// SPDX-License-Identifier: Apache-2.0

package extension

import (
	_ "embed" // for the catalogue
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/blang/semver/v4"

	api "minos.dev/minos/api/v1alpha1"
)

// Prefix stands before the names of official extensions in a schematic.
const Prefix = "siderolabs/"

// An Extension is one system extension.
type Extension struct {
	// Name is its name without the prefix, for example drbd.
	Name string `json:"name"`
	// Since is the first release that has it. Those before the first release of the catalogue were not read.
	Since string `json:"since"`
	// Until is the last release that has it; empty if the newest of the catalogue does.
	Until string `json:"until,omitempty"`
	// ReplacedBy is its present name, if it was renamed.
	ReplacedBy string `json:"replacedBy,omitempty"`
	// Tier is how well it is looked after: core, extra, contrib or deprecated.
	Tier string `json:"tier,omitempty"`
	// Kernel says that it holds kernel modules, which must be of the very same Talos release.
	Kernel bool `json:"kernel,omitempty"`
	// Architectures are those for which it has content; empty means that none was found wanting.
	Architectures []api.Architecture `json:"architectures,omitempty"`
	// Modules are kernel modules that the machine configuration must load, one of each.
	Modules []Module `json:"modules,omitempty"`
	// Sysctls are kernel settings that it needs.
	Sysctls map[string]string `json:"sysctls,omitempty"`
	// RuntimeHandlers are container runtimes that it brings; a RuntimeClass makes one usable.
	RuntimeHandlers []string `json:"runtimeHandlers,omitempty"`
	// Requires and RequiresOneOf are other extensions that must be in the same image: all of them, or one of them.
	Requires      []string `json:"requires,omitempty"`
	RequiresOneOf []string `json:"requiresOneOf,omitempty"`
	// Services are what it starts.
	Services []Service `json:"services,omitempty"`
}

// A Module is a kernel module, or several of which one is enough.
type Module struct {
	AnyOf []string `json:"anyOf"`
}

// A Service is what an extension starts, and what that waits for. A service that waits keeps a machine from ending its
// boot.
type Service struct {
	// Name is its name without the prefix "ext-": the name that its configuration must have.
	Name string `json:"name"`
	// Once says that it ends when it has done its work.
	Once bool `json:"once,omitempty"`
	// NeedsConfig says that it waits for a configuration of its name.
	NeedsConfig bool `json:"needsConfig,omitempty"`
	// WaitsForPaths are files that must exist first.
	WaitsForPaths []string `json:"waitsForPaths,omitempty"`
	// WaitsForServices are services that must run first.
	WaitsForServices []string `json:"waitsForServices,omitempty"`
}

// A Catalogue is all extensions that are known.
type Catalogue struct {
	// Tags are the releases that were read, oldest first.
	Tags []string `json:"tags"`
	// Extensions are sorted by name.
	Extensions []Extension `json:"extensions"`

	releases []semver.Version // of Tags
}

//go:embed catalogue.json
var text []byte

// Load returns the catalogue that this program was built with.
var Load = sync.OnceValues(func() (*Catalogue, error) { return parse(text) })

// parse reads a catalogue.
func parse(text []byte) (*Catalogue, error) {
	c := &Catalogue{}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("extension catalogue: %w", err)
	}
	for _, tag := range c.Tags {
		release, err := semver.ParseTolerant(tag)
		if err != nil {
			return nil, fmt.Errorf("extension catalogue: release %q: %w", tag, err)
		}
		c.releases = append(c.releases, release)
	}
	for _, e := range c.Extensions {
		if !slices.Contains(c.Tags, e.Since) || e.Until != "" && !slices.Contains(c.Tags, e.Until) {
			return nil, fmt.Errorf("extension catalogue: %s begins or ends with a release that was not read", e.Name)
		}
	}
	return c, nil
}

// Names returns the names of all extensions that a release has, sorted.
func (c *Catalogue) Names(version api.TalosVersion) ([]string, error) {
	release, err := semver.ParseTolerant(string(version))
	if err != nil {
		return nil, fmt.Errorf("talos version %q: %w", version, err)
	}
	var names []string
	for _, e := range c.Extensions {
		if c.in(e, release) {
			names = append(names, e.Name)
		}
	}
	return names, nil
}

// Find returns an extension by its name, with or without the prefix.
func (c *Catalogue) Find(name string) (Extension, bool) {
	at, found := slices.BinarySearchFunc(c.Extensions, strings.TrimPrefix(name, Prefix), func(e Extension, name string) int {
		return strings.Compare(e.Name, name)
	})
	if !found {
		return Extension{}, false
	}
	return c.Extensions[at], true
}

// Knows says whether a release was read, or lies between releases that were. What the catalogue says of a newer one is
// what the newest that was read had.
func (c *Catalogue) Knows(version api.TalosVersion) bool {
	release, err := semver.ParseTolerant(string(version))
	return err == nil && release.GTE(c.releases[0]) && release.LTE(c.releases[len(c.releases)-1])
}

// in says whether a release has an extension. Once there, an extension stays until its last release; names change with
// minor releases only, so that a later patch of the line of its last release has it too. Of releases before the catalogue
// the oldest stands in, of those after it the newest.
func (c *Catalogue) in(e Extension, release semver.Version) bool {
	release = clamp(release, c.releases[0], c.releases[len(c.releases)-1])
	if release.LT(c.releaseOf(e.Since)) {
		return false
	}
	if e.Until == "" {
		return true
	}
	until := c.releaseOf(e.Until)
	return release.LTE(until) || sameMinor(release, until)
}

// releaseOf is a tag as a version.
func (c *Catalogue) releaseOf(tag string) semver.Version {
	return c.releases[slices.Index(c.Tags, tag)]
}

// clamp keeps a version within bounds.
func clamp(v, oldest, newest semver.Version) semver.Version {
	if v.LT(oldest) {
		return oldest
	}
	if v.GT(newest) {
		return newest
	}
	return v
}

// sameMinor says whether two versions are of one release line.
func sameMinor(a, b semver.Version) bool {
	return a.Major == b.Major && a.Minor == b.Minor
}
