// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/machines"
	"minos.dev/minos/plan/pool"
)

// A State is all that is declared about the machines of one pool.
type State struct {
	// Cluster is the pool's, with its status.
	Cluster *api.TalosCluster
	// Pool is the pool, with its status.
	Pool *api.NodePool
	// Location is its place.
	Location api.LocationSpec
	// Roles are those that were declared; built-in ones are known.
	Roles []api.NodeRole
}

// A Forecast is what a change does to the machines of a pool.
type Forecast struct {
	// Namespace and Pool say which.
	Namespace string `json:"namespace"`
	Pool      string `json:"pool"`
	// Machines is how many there are.
	Machines int `json:"machines"`
	// Made and Removed are how many more, or fewer, there will be.
	Made    int `json:"made,omitempty"`
	Removed int `json:"removed,omitempty"`
	// Replaced is how many are replaced, AtOnce how many of them at a time, and Times how often, if more than once.
	Replaced int `json:"replaced,omitempty"`
	AtOnce   int `json:"atOnce,omitempty"`
	Times    int `json:"times,omitempty"`
	// Changed is how many are changed while they run.
	Changed int `json:"changed,omitempty"`
	// Because are the fields that cause it.
	Because []string `json:"because,omitempty"`
	// Impossible is what the change asks for and does not get, each with the reason.
	Impossible []string `json:"impossible,omitempty"`
}

// For foretells what becomes of the machines of a pool when what is declared changes from one state to another. A pool that is
// new has no state before.
func For(before, after State) Forecast {
	found := Forecast{Namespace: after.Pool.Namespace, Pool: after.Pool.Name, Machines: int(number(after.Pool.Status.Replicas))}
	found.count(before.Pool, after.Pool)
	found.Impossible = impossible(before, after)
	if before.Pool == nil || before.Cluster == nil || after.Cluster == nil {
		return found // it is made, or waits
	}
	next := after.ahead(before)
	reached, err := reach(before.now(), next)
	if err != nil {
		found.Impossible = append(found.Impossible, err.Error())
		return found
	}
	if reached == nothing {
		return found
	}
	kept := min(found.Machines, found.Machines+found.Made-found.Removed)
	if reached == live {
		found.Changed = kept
	} else {
		found.Replaced, found.AtOnce = kept, atOnce(next, found.Machines+found.Made-found.Removed)
		found.AtOnce = min(found.AtOnce, kept)
		found.Times = times(before, after)
	}
	found.Because = causes(before, after, reached)
	return found
}

// count says how many machines come or go. Those of an autoscaled pool are the autoscaler's, within its bounds.
func (f *Forecast) count(before, after *api.NodePool) {
	was, wanted := f.Machines, int(pool.Claim(after))
	if before != nil {
		was = int(number(after.Status.DesiredReplicas))
		if before.Spec.Autoscaling == nil {
			was = int(pool.Claim(before))
		}
	}
	if bounds := after.Spec.Autoscaling; bounds != nil {
		wanted = min(max(was, int(number(bounds.Min))), int(number(bounds.Max)))
	}
	f.Made, f.Removed = max(wanted-was, 0), max(was-wanted, 0)
}

// atOnce is how many machines a roll-out has in hand at a time, of so many.
func atOnce(of State, desired int) int {
	role, err := of.role()
	if err != nil {
		return 1
	}
	budget := pool.BudgetOf(of.Cluster, of.Pool, role)
	policy := machines.PolicyOf(of.Pool, machines.Limits{Desired: desired, Surge: budget.Surge, Unavailable: budget.Unavailable})
	return policy.Surge + policy.Unavailable
}

// number is a count, or zero where none was given.
func number(of *int32) int32 {
	if of == nil {
		return 0
	}
	return *of
}

// IsEmpty says whether nothing happens.
func (f Forecast) IsEmpty() bool {
	return f.Made+f.Removed+f.Replaced+f.Changed+len(f.Impossible) == 0
}

// Lines say it, a sentence each. A pool to which nothing happens has none.
func (f Forecast) Lines() []string {
	var all []string
	because := ""
	if len(f.Because) > 0 {
		because = ": " + listed(f.Because) + " changed"
	}
	of := "of pool " + f.Pool
	if f.Replaced > 0 {
		often := ""
		if f.Times > 1 {
			often = fmt.Sprintf(" %d times, for each minor version on the way", f.Times)
		}
		all = append(all, fmt.Sprintf("%s %s will be replaced%s, %d at a time%s", things(f.Replaced), of, often, f.AtOnce, because))
	}
	if f.Changed > 0 {
		all = append(all, fmt.Sprintf("%s %s will be changed while they run%s", things(f.Changed), of, because))
	}
	if f.Made > 0 {
		all = append(all, fmt.Sprintf("%s %s will be made", things(f.Made), of))
	}
	if f.Removed > 0 {
		all = append(all, fmt.Sprintf("%s %s will be drained and removed", things(f.Removed), of))
	}
	for _, why := range f.Impossible {
		all = append(all, fmt.Sprintf("pool %s: %s", f.Pool, why))
	}
	return all
}

// things are machines in words.
func things(count int) string {
	if count == 1 {
		return "1 machine"
	}
	return fmt.Sprintf("%d machines", count)
}

// named is how many fields are named in a sentence.
const named = 4

// listed names fields, of which there may be many.
func listed(fields []string) string {
	text := ""
	for at, field := range fields {
		switch {
		case at == named:
			return fmt.Sprintf("%s and %d more fields", text, len(fields)-named)
		case at > 0:
			text += ", "
		}
		text += field
	}
	return text
}
