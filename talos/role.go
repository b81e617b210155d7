// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"cmp"
	"embed"
	"fmt"
	"maps"
	"slices"
	"sync"

	"sigs.k8s.io/yaml"

	"minos.dev/minos/api/nearest"
	api "minos.dev/minos/api/v1alpha1"
)

// roleFiles is the built-in roles as people read them.
//
//go:embed roles/*.yaml
var roleFiles embed.FS

// Roles is the roles that can be named, by name: the built-in ones, and those that were declared. A declared role
// replaces a built-in one of the same name.
type Roles struct {
	byName map[api.Name]*api.NodeRole
}

// NewRoles returns the built-in roles together with declared ones.
func NewRoles(declared ...*api.NodeRole) (Roles, error) {
	shipped, err := builtin()
	if err != nil {
		return Roles{}, err
	}
	roles := Roles{byName: map[api.Name]*api.NodeRole{}}
	for name, role := range shipped {
		roles.byName[name] = role.DeepCopy()
	}
	for _, role := range declared {
		roles.byName[api.Name(role.Name)] = role
	}
	return roles, nil
}

// builtin reads the roles that Minos ships, once: they are part of the program.
var builtin = sync.OnceValues(func() (map[api.Name]*api.NodeRole, error) {
	roles := map[api.Name]*api.NodeRole{}
	for _, name := range BuiltinRoleNames() {
		text, err := BuiltinRole(name)
		if err != nil {
			return nil, err
		}
		role := &api.NodeRole{}
		if err := yaml.UnmarshalStrict(text, role); err != nil {
			return nil, fmt.Errorf("built-in role %s: %w", name, err)
		}
		roles[api.Name(name)] = role
	}
	return roles, nil
})

// BuiltinRoleNames returns the names of the roles that Minos ships, sorted.
func BuiltinRoleNames() []string {
	entries, _ := roleFiles.ReadDir("roles")
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name()[:len(entry.Name())-len(".yaml")])
	}
	return names
}

// BuiltinRole returns a built-in role as the text that people read and copy.
func BuiltinRole(name string) ([]byte, error) {
	if !slices.Contains(BuiltinRoleNames(), name) {
		return nil, fmt.Errorf("%q is not a built-in role%s", name, nearest.Hint(name, BuiltinRoleNames()))
	}
	return roleFiles.ReadFile("roles/" + name + ".yaml")
}

// Names returns the names of all roles, sorted.
func (r Roles) Names() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(r.byName)) {
		names = append(names, string(name))
	}
	return names
}

// Get returns a role as it was declared.
func (r Roles) Get(name api.Name) (*api.NodeRole, error) {
	if role, ok := r.byName[name]; ok {
		return role, nil
	}
	if hint := nearest.Hint(string(name), r.Names()); hint != "" {
		return nil, fmt.Errorf("there is no role %q%s", name, hint)
	}
	return nil, fmt.Errorf("there is no role %q: the known ones are %v", name, r.Names())
}

// Chain returns a role and what it extends, the most basic first.
func (r Roles) Chain(name api.Name) ([]*api.NodeRole, error) {
	var chain []*api.NodeRole
	seen := map[api.Name]bool{}
	for next := name; next != ""; {
		if seen[next] {
			return nil, fmt.Errorf("role %q extends itself, by way of %q: end the circle in one of them", next, chain[0].Name)
		}
		seen[next] = true
		role, err := r.Get(next)
		if err != nil && next != name {
			return nil, fmt.Errorf("role %q extends a role that does not exist: %w", chain[0].Name, err)
		}
		if err != nil {
			return nil, err
		}
		chain = append([]*api.NodeRole{role}, chain...)
		next = role.Spec.Extends
	}
	return chain, nil
}

// Resolve returns a role with everything that it extends folded in: lists and maps are added up, the scalars of the
// more special role win. The result extends nothing.
func (r Roles) Resolve(name api.Name) (*api.NodeRole, error) {
	chain, err := r.Chain(name)
	if err != nil {
		return nil, err
	}
	resolved := chain[len(chain)-1].DeepCopy()
	resolved.Spec = api.NodeRoleSpec{}
	for _, role := range chain {
		fold(&resolved.Spec, role.Spec.DeepCopy())
	}
	resolved.Spec.Extends = ""
	resolved.Spec.MachineType = cmp.Or(resolved.Spec.MachineType, api.MachineWorker)
	resolved.Spec.PerCluster = cmp.Or(resolved.Spec.PerCluster, api.PerClusterAny)
	return resolved, nil
}
