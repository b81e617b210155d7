// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	api "minos.dev/minos/api/v1alpha1"
)

// A Placement is what decides whether a pool may use its place.
type Placement struct {
	// Spec is the place; nil means that it does not exist.
	Spec *api.LocationSpec
	// Conditions are what the place says of itself.
	Conditions []metav1.Condition
	// Namespace is the labels of the pool's namespace.
	Namespace map[string]string
	// Pools are all pools of the place, of all namespaces.
	Pools []api.NodePool
}

// A Grant is what a place lets a pool have.
type Grant struct {
	// Refusal is why not all is granted, or nil.
	Refusal *Refusal
	// Held says that nothing at all may be changed: machines that are there stay as they are.
	Held bool
	// Room is how many machines the pool may have; more that are there already may stay.
	Room int32
}

// Locate decides what the place of a pool lets it have.
func Locate(pool *api.NodePool, at Placement) Grant {
	if refusal := absent(pool, at); refusal != nil {
		return Grant{Refusal: refusal, Held: true}
	}
	// To whom a place is not offered, it tells nothing else of itself.
	denied := notOffered(pool, at)
	for _, refuses := range []func(*api.NodePool, Placement) *Refusal{otherMember, instanceType, unreachable} {
		if refusal := refuses(pool, at); refusal != nil {
			return Grant{Refusal: cmp.Or(denied, refusal), Held: true}
		}
	}
	if denied != nil {
		return Grant{Refusal: denied}
	}
	return limited(pool, at)
}

// Of says how many machines a pool may have that wants so many and has so many: a place that grants fewer than there are takes
// none away.
func (g Grant) Of(wanted, have int32) int32 { return min(wanted, max(have, g.Room)) }

// place names the place of a pool.
func place(pool *api.NodePool) string {
	return fmt.Sprintf("%s %s", pool.Spec.LocationRef.Kind, pool.Spec.LocationRef.Name)
}

// absent refuses a place that does not exist.
func absent(pool *api.NodePool, at Placement) *Refusal {
	if at.Spec != nil {
		return nil
	}
	return Refuse(api.ReasonNotFound, "%s does not exist: the pool waits for it", place(pool))
}

// otherMember refuses a place that makes other machines than the pool declares.
func otherMember(pool *api.NodePool, at Placement) *Refusal {
	if at.Spec.Member() == pool.Spec.Machine.Member() {
		return nil
	}
	return Refuse(api.ReasonInvalid, "%s makes %s machines, and spec.machine is %s: make a new pool of the kind that the place has",
		place(pool), at.Spec.Member(), pool.Spec.Machine.Member())
}

// instanceType refuses a size that the place does not offer. Free amounts would go around its list.
func instanceType(pool *api.NodePool, at Placement) *Refusal {
	limits, machine := at.Spec.Place().Limits, pool.Spec.Machine.KubeVirt
	if limits == nil || len(limits.InstanceTypes) == 0 || machine == nil || slices.Contains(limits.InstanceTypes, machine.Size.InstanceType) {
		return nil
	}
	offered := strings.Join(slices.Sorted(slices.Values(limits.InstanceTypes)), ", ")
	if machine.Size.InstanceType == "" {
		return Refuse(api.ReasonDenied, "%s offers instance types only: set machine.kubevirt.size.instanceType to one of %s", place(pool), offered)
	}
	return Refuse(api.ReasonDenied, "%s does not offer the instance type %s: choose one of %s", place(pool), machine.Size.InstanceType, offered)
}

// unreachable refuses a place that says that it does not answer.
func unreachable(pool *api.NodePool, at Placement) *Refusal {
	seen := meta.FindStatusCondition(at.Conditions, api.ConditionReady)
	if seen == nil || seen.Status != metav1.ConditionFalse {
		return nil
	}
	return Refuse(seen.Reason, "%s is not ready: %s", place(pool), seen.Message)
}

// notOffered refuses a place of the platform to namespaces that it does not select. A place of the tenant's own is in the pool's
// namespace, and so for it.
func notOffered(pool *api.NodePool, at Placement) *Refusal {
	if pool.Spec.LocationRef.Kind != api.KindClusterLocation {
		return nil
	}
	selector := at.Spec.Place().Namespaces
	if selector == nil {
		return Refuse(api.ReasonDenied, "%s is offered to no namespace: its owner has to select some by namespaces", place(pool))
	}
	if labels.SelectorFromSet(selector.MatchLabels).Matches(labels.Set(at.Namespace)) {
		return nil
	}
	var wanted []string
	for _, key := range slices.Sorted(maps.Keys(selector.MatchLabels)) {
		wanted = append(wanted, key+"="+selector.MatchLabels[key])
	}
	return Refuse(api.ReasonDenied, "%s is not offered to namespace %s: the namespace needs the labels %s", place(pool), pool.Namespace, strings.Join(wanted, ","))
}

// limited gives a pool what older pools leave it of the place's limits.
func limited(pool *api.NodePool, at Placement) Grant {
	claim := Claim(pool)
	granted := Grant{Room: claim}
	if !IsShared(at.Spec) {
		return granted
	}
	limits := at.Spec.Place().Limits
	for _, limit := range []struct {
		most  *int32
		scope string
		all   bool
	}{{limits.Machines, "in all", true}, {limits.MachinesPerNamespace, "for a namespace", false}} {
		if limit.most == nil {
			continue
		}
		taken := taken(pool, at.Pools, limit.all)
		room := max(*limit.most-taken, 0)
		if room < granted.Room {
			granted.Room = room
			granted.Refusal = Refuse(api.ReasonDenied, "%s allows %d machines %s, of which older pools claim %d: %d of the %d of this pool can be made; lower the number, or ask the place's owner for more",
				place(pool), *limit.most, limit.scope, taken, room, claim)
		}
	}
	return granted
}

// IsShared says whether what one pool has of a place another may not: it matters then which other pools it has.
func IsShared(place *api.LocationSpec) bool {
	if place == nil {
		return false
	}
	limits := place.Place().Limits
	return limits != nil && (limits.Machines != nil || limits.MachinesPerNamespace != nil)
}

// taken is how many machines older pools claim.
func taken(pool *api.NodePool, pools []api.NodePool, all bool) int32 {
	var sum int32
	for at := range pools {
		other := &pools[at]
		if !same(other, pool) && (all || other.Namespace == pool.Namespace) && older(other, pool) {
			sum += Claim(other)
		}
	}
	return sum
}
