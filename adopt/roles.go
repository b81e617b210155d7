// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"fmt"
	"reflect"
	"slices"

	api "minos.dev/minos/api/v1alpha1"
)

// chooseRoles decides for every pool between a built-in role and one of its own.
func (p *plan) chooseRoles(known *roles) error {
	var own []*role
	for _, pool := range p.pools {
		one := &pool.role
		if one.why != "" {
			origin := pool.hosts[0].machine.Origin
			p.left = append(p.left, Remark{Origin: origin, Text: one.why +
				": the installer image stands as a patch, to be changed by hand with every upgrade"})
		}
		name, err := known.builtinFor(one, pool.controlPlane)
		if err != nil {
			return err
		}
		one.name, one.builtin = name, name != ""
		if one.builtin {
			continue
		}
		one.spec.Extends = base(pool.controlPlane)
		if i := slices.IndexFunc(own, func(other *role) bool { return reflect.DeepEqual(other.spec, one.spec) }); i >= 0 {
			one.name = own[i].name
			continue
		}
		one.name = p.facts.clusterName() + "-" + poolName(pool.controlPlane)
		if same := countFunc(own, func(other *role) bool { return other.spec.Extends == one.spec.Extends }); same > 0 {
			one.name = fmt.Sprintf("%s-%d", one.name, same+1)
		}
		own = append(own, one)
	}
	return nil
}

func countFunc[T any](all []T, is func(T) bool) int {
	n := 0
	for _, one := range all {
		if is(one) {
			n++
		}
	}
	return n
}

// base is the role that a role of its own extends.
func base(controlPlane bool) api.Name {
	if controlPlane {
		return "control-plane"
	}
	return "plain"
}

// builtinFor returns the built-in role that says exactly what a role says, or nothing.
func (r *roles) builtinFor(wanted *role, controlPlane bool) (string, error) {
	id, err := idOf(wanted.spec)
	if err != nil {
		return "", err
	}
	candidates := slices.Clone(r.builtin[id])
	slices.SortStableFunc(candidates, func(a, b api.Name) int { // the plainest first
		return boolInt(b == base(controlPlane)) - boolInt(a == base(controlPlane))
	})
	for _, name := range candidates {
		resolved, err := r.known.Resolve(name)
		if err != nil {
			return "", err
		}
		if (resolved.Spec.MachineType == api.MachineControlPlane) == controlPlane && sameSettings(resolved.Spec, wanted.spec) {
			return string(name), nil
		}
	}
	return "", nil
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sameSettings says whether two roles put the same into machine configurations.
func sameSettings(a, b api.NodeRoleSpec) bool {
	settings := func(spec api.NodeRoleSpec) api.NodeRoleSpec {
		return api.NodeRoleSpec{
			KernelModules: spec.KernelModules, Sysctls: spec.Sysctls, Services: spec.Services, Config: spec.Config,
			Labels: spec.Labels, Taints: spec.Taints,
		}
	}
	return reflect.DeepEqual(settings(a), settings(b))
}
