// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
)

// A field is one that differs: where it stands, and a state that differs from the one before in nothing else.
type field struct {
	name string
	only func() (State, error)
}

// causes are the fields for each of which alone the change would go as far. Where no field alone does, all of them do together.
func causes(before, after State, reached depth) []string {
	var some, all []string
	for _, each := range differing(before, after) {
		all = append(all, each.name)
		one, err := each.only()
		if err != nil {
			continue
		}
		if alone, err := reach(before.now(), one.ahead(before)); err == nil && alone >= reached {
			some = append(some, each.name)
		}
	}
	if len(some) == 0 {
		return all
	}
	return some
}

// differing are the fields in which two states differ.
func differing(before, after State) []field {
	var all []field
	for _, path := range paths(before.Pool.Spec, after.Pool.Spec) {
		all = append(all, field{strings.Join(path, "."), func() (State, error) {
			one := before
			one.Pool = before.Pool.DeepCopy()
			return one, graft(&one.Pool.Spec, after.Pool.Spec, path)
		}})
	}
	for _, path := range paths(before.Cluster.Spec, after.Cluster.Spec) {
		all = append(all, field{of(path, "TalosCluster", after.Cluster.Name), func() (State, error) {
			one := before
			one.Cluster = before.Cluster.DeepCopy()
			return one, graft(&one.Cluster.Spec, after.Cluster.Spec, path)
		}})
	}
	for _, path := range paths(before.Location, after.Location) {
		reference := after.Pool.Spec.LocationRef
		all = append(all, field{of(path, string(reference.Kind), string(reference.Name)), func() (State, error) {
			one := before
			one.Location = *before.Location.DeepCopy()
			err := graft(&one.Location, after.Location, path)
			return one, err
		}})
	}
	return append(all, differingRoles(before, after)...)
}

// differingRoles are the same for roles. One that comes or goes differs as a whole.
func differingRoles(before, after State) []field {
	was, is := byName(before.Roles), byName(after.Roles)
	names := maps.Clone(was)
	maps.Copy(names, is)
	var all []field
	for _, name := range slices.Sorted(maps.Keys(names)) {
		old, new := was[name], is[name]
		if old == nil || new == nil {
			all = append(all, field{"NodeRole " + name, func() (State, error) { return before.with(name, new), nil }})
			continue
		}
		for _, path := range paths(old.Spec, new.Spec) {
			all = append(all, field{of(path, "NodeRole", name), func() (State, error) {
				one := old.DeepCopy()
				err := graft(&one.Spec, new.Spec, path)
				return before.with(name, one), err
			}})
		}
	}
	return all
}

// byName finds roles.
func byName(roles []api.NodeRole) map[string]*api.NodeRole {
	found := map[string]*api.NodeRole{}
	for at := range roles {
		found[roles[at].Name] = &roles[at]
	}
	return found
}

// with is a state with another role of a name; nil takes it away.
func (s State) with(name string, role *api.NodeRole) State {
	s.Roles = slices.DeleteFunc(slices.Clone(s.Roles), func(one api.NodeRole) bool { return one.Name == name })
	if role != nil {
		s.Roles = append(s.Roles, *role)
	}
	return s
}

// of names a field of another object than the pool.
func of(path []string, kind, name string) string {
	return fmt.Sprintf("%s of %s %s", strings.Join(path, "."), kind, name)
}

// deepest is how many steps a path has at most: as many as to where a size or a union is still whole.
const deepest = 3

// paths are where two specs differ, in order.
func paths(before, after any) [][]string {
	was, is := fieldsOf(before), fieldsOf(after)
	return below(was, is, nil)
}

// below are the paths of two mappings that differ.
func below(was, is map[string]any, at []string) [][]string {
	keys := maps.Clone(was)
	maps.Copy(keys, is)
	var all [][]string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		path := append(slices.Clone(at), key)
		old, wasMap := was[key].(map[string]any)
		new, isMap := is[key].(map[string]any)
		switch {
		case reflect.DeepEqual(was[key], is[key]):
		case wasMap && isMap && len(path) < deepest:
			all = append(all, below(old, new, path)...)
		default:
			all = append(all, path)
		}
	}
	return all
}

// fieldsOf are the fields of a spec, as they are written. What is no spec has none.
func fieldsOf(spec any) map[string]any {
	found := map[string]any{}
	if text, err := json.Marshal(spec); err == nil {
		_ = json.Unmarshal(text, &found) // it was written a moment ago
	}
	return found
}

// graft sets one field of a spec as another has it.
func graft[T any](spec *T, from T, path []string) error {
	whole, other := fieldsOf(*spec), fieldsOf(from)
	node, source := whole, other
	for _, key := range path[:len(path)-1] {
		node, source = node[key].(map[string]any), source[key].(map[string]any) // both are, or else the path had ended there
	}
	key := path[len(path)-1]
	delete(node, key)
	if value, has := source[key]; has {
		node[key] = value
	}
	text, err := json.Marshal(whole)
	if err != nil {
		return err
	}
	var made T
	err = json.Unmarshal(text, &made)
	*spec = made
	return err
}
