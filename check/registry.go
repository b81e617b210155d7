// SPDX-License-Identifier: Apache-2.0

package check

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"minos.dev/minos/api/nearest"
	"minos.dev/minos/check/declarations"
	"minos.dev/minos/check/extensions"
	"minos.dev/minos/check/fleets"
	"minos.dev/minos/check/gpu"
	"minos.dev/minos/check/images"
	"minos.dev/minos/check/machineconfig"
	"minos.dev/minos/check/network"
	"minos.dev/minos/check/operations"
	"minos.dev/minos/check/plane"
	"minos.dev/minos/check/platform"
	"minos.dev/minos/check/remarks"
	"minos.dev/minos/check/roles"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/check/secrets"
	"minos.dev/minos/check/storage"
	"minos.dev/minos/check/upgrade"
)

// A Group is rules about one subject: their IDs begin with its own.
type Group struct {
	// ID is three letters.
	ID string `json:"id"`
	// Title is what it is about, in a few words.
	Title string `json:"title"`
	// Folder is the name of its page in the documentation, without an end.
	Folder string `json:"-"`
}

// groups are all groups, in the order in which they are shown.
var groups = []Group{
	{"MIN", "Declarations of Minos", "declarations"},
	{"PLT", "Platform", "platform"},
	{"CPL", "Control plane", "plane"},
	{"CFG", "Machine configuration", "machineconfig"},
	{"SEC", "Secrets and hardening", "secrets"},
	{"NET", "Network", "network"},
	{"STO", "Storage", "storage"},
	{"IMG", "Images", "images"},
	{"EXT", "Extensions", "extensions"},
	{"ROL", "Roles", "roles"},
	{"GPU", "Graphics processors", "gpu"},
	{"UPG", "Upgrades", "upgrade"},
	{"OPS", "Operations", "operations"},
	{"FLT", "Fleet", "fleets"},
}

// Groups returns all groups, in the order in which they are shown.
func Groups() []Group { return slices.Clone(groups) }

// order is where a group stands among all.
func order(id string) int {
	return slices.IndexFunc(groups, func(group Group) bool { return group.ID == id })
}

// sources are the packages that have rules.
var sources = []func() []*rule.Rule{
	declarations.Rules,
	remarks.Rules,
	extensions.Rules,
	fleets.Rules,
	gpu.Rules,
	images.Rules,
	machineconfig.Rules,
	network.Rules,
	operations.Rules,
	plane.Rules,
	platform.Rules,
	roles.Rules,
	storage.Rules,
	upgrade.Rules,
	secrets.Rules,
}

// registry is made once: examples are read with every rule.
var registry = sync.OnceValue(func() []*rule.Rule {
	var all []*rule.Rule
	for _, rules := range sources {
		all = append(all, rules()...)
	}
	slices.SortFunc(all, func(a, b *rule.Rule) int { return cmp.Compare(a.ID, b.ID) })
	return all
})

// Rules returns all rules, sorted by ID.
func Rules() []*rule.Rule { return slices.Clone(registry()) }

// Find returns a rule by its ID, in letters of any size.
func Find(id string) (*rule.Rule, error) {
	var known []string
	for _, one := range registry() {
		if strings.EqualFold(one.ID, id) {
			return one, nil
		}
		known = append(known, one.ID)
	}
	return nil, fmt.Errorf("there is no rule %q%s", id, nearest.Hint(strings.ToUpper(id), known))
}

// Select returns the rules that some patterns name, without those that others name: an ID, a group such as NET, or either with
// wildcards. No pattern in only means all. A pattern that names nothing is a slip of the pen, and an error.
func Select(only, skip []string) ([]*rule.Rule, error) {
	for _, pattern := range slices.Concat(only, skip) {
		if !slices.ContainsFunc(registry(), func(one *rule.Rule) bool { return named(one, pattern) }) {
			_, err := Find(pattern)
			return nil, fmt.Errorf("%w: name an ID, a group, or either with wildcards", err)
		}
	}
	var chosen []*rule.Rule
	for _, one := range registry() {
		by := func(pattern string) bool { return named(one, pattern) }
		if (len(only) == 0 || slices.ContainsFunc(only, by)) && !slices.ContainsFunc(skip, by) {
			chosen = append(chosen, one)
		}
	}
	return chosen, nil
}

// named says whether a pattern names a rule.
func named(one *rule.Rule, pattern string) bool {
	pattern = strings.ToUpper(pattern)
	if pattern == one.Group() {
		return true
	}
	found, err := path.Match(pattern, one.ID)
	return err == nil && found
}
