// SPDX-License-Identifier: Apache-2.0

package dev

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/doctor"
	"minos.dev/minos/sim/machine"
)

// A View is how far everything is, at one time. It is a value: what happened is the difference of two.
type View struct {
	At       time.Time
	Clusters []Object
	Pools    []Pool
	Machines []Machine
}

// An Object is a cluster or a pool, and what it waits for when it is not Ready: the condition that is not true, since when, and in
// words.
type Object struct {
	Name  string
	Ready bool
	Step  string
	Since time.Time
	Waits string
}

// A Pool is one with its numbers.
type Pool struct {
	Object
	Role    string
	Place   string
	Wanted  int32
	Running int32 // that are Ready
}

// A Machine is a simulated machine, as it sees itself.
type Machine struct {
	Name, Pool string
	Stage      string
	Boots      int
	API        string // where its Talos API answers
	Steps      []machine.Progress
	// Stood is since when it stands where it stands for the same reason, as far as it was looked at.
	Stood time.Time
}

// viewOf is the view of what was seen: the objects by the operator's words, and the machines by their own.
func viewOf(seen doctor.Seen, machines []machine.Status, now time.Time) View {
	view := View{At: now}
	for _, cluster := range seen.Clusters {
		view.Clusters = append(view.Clusters, objectOf(cluster.ObjectMeta, cluster.Status.ObservedGeneration, cluster.Status.Conditions))
	}
	for _, pool := range seen.Pools {
		view.Pools = append(view.Pools, Pool{
			Object: objectOf(pool.ObjectMeta, pool.Status.ObservedGeneration, pool.Status.Conditions), Role: string(pool.Spec.Role),
			Place: string(pool.Spec.LocationRef.Name), Wanted: number(cmp.Or(pool.Status.DesiredReplicas, pool.Spec.Replicas)), Running: number(pool.Status.ReadyReplicas),
		})
	}
	for _, status := range machines {
		name := status.Machine[strings.LastIndex(status.Machine, "/")+1:] // KubeVirt's have the namespace before it
		view.Machines = append(view.Machines, Machine{
			Name: name, Pool: poolOf(name, view.Pools), Stage: status.Stage, Boots: status.Boots, API: status.API, Steps: status.Steps,
		})
	}
	slices.SortFunc(view.Machines, func(a, b Machine) int {
		return cmp.Or(strings.Compare(a.Pool, b.Pool), strings.Compare(a.Name, b.Name))
	})
	return view
}

// carrying is the view with what only somebody knows who looked before: since when machines stand where they stand.
func (v View) carrying(before View) View {
	v.Machines = slices.Clone(v.Machines)
	for at := range v.Machines {
		one := &v.Machines[at]
		one.Stood = v.At
		was := before.machine(one.Name)
		if was == nil {
			continue
		}
		now, _ := one.stands()
		if then, _ := was.stands(); then == now {
			one.Stood = was.Stood
		}
	}
	return v
}

// objectOf is what conditions say of an object.
func objectOf(object metav1.ObjectMeta, observed int64, conditions []metav1.Condition) Object {
	found := Object{Name: object.Name, Step: api.ConditionReady, Since: object.CreationTimestamp.Time}
	ready := meta.FindStatusCondition(conditions, api.ConditionReady)
	switch {
	case !object.DeletionTimestamp.IsZero():
		found.Waits, found.Since = "is being deleted", object.DeletionTimestamp.Time
	case ready == nil:
		found.Waits = "nobody has looked at it yet"
	case ready.Status == metav1.ConditionTrue && observed == object.Generation:
		found.Ready, found.Step = true, ""
	case observed < object.Generation:
		found.Waits = "the change has not been looked at yet"
	default:
		found.Waits = ready.Message
		if step, rest, ok := strings.Cut(ready.Message, ": "); ok {
			found.Step, found.Waits = step, rest
		}
		if cause := meta.FindStatusCondition(conditions, found.Step); cause != nil {
			found.Since = cause.LastTransitionTime.Time
		}
	}
	return found
}

// poolOf is the pool that a machine is of: names of machines begin with it.
func poolOf(name string, pools []Pool) string {
	found := ""
	for _, pool := range pools {
		if strings.HasPrefix(name, pool.Name+"-") && len(pool.Name) > len(found) {
			found = pool.Name
		}
	}
	return found
}

// number is the number at an address, or 0.
func number(at *int32) int32 {
	if at == nil {
		return 0
	}
	return *at
}

// Ready says whether all is: every cluster, every pool, and as many machines as are wanted, by their own word too. After a restart the
// objects say for a while what was true before it.
func (v View) Ready() bool {
	if len(v.Clusters) == 0 {
		return false
	}
	for _, cluster := range v.Clusters {
		if !cluster.Ready {
			return false
		}
	}
	for _, pool := range v.Pools {
		if !pool.Ready || pool.Running != pool.Wanted || v.reached(pool.Name, machine.StepReady) < int(pool.Wanted) {
			return false
		}
	}
	return true
}

// reached is how many machines of a pool have reached a step.
func (v View) reached(pool string, step machine.Step) int {
	count := 0
	for _, one := range v.Of(pool) {
		if one.Reached(step) {
			count++
		}
	}
	return count
}

// Of returns the machines of a pool.
func (v View) Of(pool string) []Machine {
	return slices.DeleteFunc(slices.Clone(v.Machines), func(m Machine) bool { return m.Pool != pool })
}

// Pool returns a pool, or one without a name.
func (v View) Pool(name string) Pool {
	for _, pool := range v.Pools {
		if pool.Name == name {
			return pool
		}
	}
	return Pool{}
}

// Cluster returns a cluster, or one without a name.
func (v View) Cluster(name string) Object {
	for _, cluster := range v.Clusters {
		if cluster.Name == name {
			return cluster
		}
	}
	return Object{}
}

// stands is the step at which a machine stands and why; nothing if it has reached all of them.
func (m Machine) stands() (machine.Progress, bool) {
	return machine.Status{Steps: m.Steps}.Stopped()
}

// Reached says whether a machine has reached a step.
func (m Machine) Reached(step machine.Step) bool { return machine.Status{Steps: m.Steps}.Reached(step) }

// A Line is something that happened.
type Line struct {
	// After is how long after the start.
	After time.Duration `json:"-"`
	// What is the part, the object or the machine that it is about, and Step the step of a machine.
	What string `json:"what"`
	Step string `json:"step,omitempty"`
	Text string `json:"text"`
}

// String is the line for people.
func (l Line) String() string {
	return fmt.Sprintf("%7.1fs  %-22s %-9s %s", l.After.Seconds(), l.What, cmp.Or(l.Step, "-"), l.Text)
}
