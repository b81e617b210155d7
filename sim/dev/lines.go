// SPDX-License-Identifier: Apache-2.0

package dev

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	api "minos.dev/minos/api/v1alpha1"
)

// happened is what happened between two views, in the order in which it did as far as that is known. Times are seen from begin.
func happened(before, after View, begin time.Time) []Line {
	at := after.At.Sub(begin)
	var lines []Line
	for _, cluster := range after.Clusters {
		lines = append(lines, Line{After: at, What: "cluster " + cluster.Name, Text: cluster.since(before.Cluster(cluster.Name), before.At, after.At)})
	}
	for _, pool := range after.Pools {
		lines = append(lines, Line{After: at, What: "pool " + pool.Name, Text: pool.since(before.Pool(pool.Name).Object, before.At, after.At)})
	}
	lines = slices.DeleteFunc(lines, func(line Line) bool { return line.Text == "" })
	for _, one := range after.Machines {
		lines = append(lines, one.since(before.machine(one.Name), begin, [2]time.Time{before.At, after.At})...)
	}
	for _, one := range before.Machines {
		if after.machine(one.Name) == nil {
			lines = append(lines, Line{After: at, What: one.Name, Text: "is gone"})
		}
	}
	slices.SortStableFunc(lines, func(a, b Line) int { return cmp.Compare(a.After, b.After) })
	return lines
}

// machine returns a machine, or nil.
func (v View) machine(name string) *Machine {
	for at := range v.Machines {
		if v.Machines[at].Name == name {
			return &v.Machines[at]
		}
	}
	return nil
}

// patience is how long something is waited for before it is told why: most waits are over before anybody has read that.
const patience = 5 * time.Second

// since is what happened to a cluster or a pool since it was as before; nothing if nothing did.
func (o Object) since(before Object, then, now time.Time) string {
	switch {
	case o.Ready && !before.Ready:
		return "is Ready"
	case o.Ready:
		return ""
	case o.Step != before.Step && o.Step != api.ConditionReady: // that nobody has looked yet is told only if it stays so
		return "waits for " + o.Step
	case o.Step == api.ConditionClusterReady: // why a cluster is not is told of it, and not of each of its pools
		return ""
	case overdue(o.Since, [2]time.Time{then, now}) || o.Waits != before.Waits && now.Sub(o.Since) > patience && o.Step != api.ConditionReady:
		return fmt.Sprintf("waits for %s: %s", o.Step, o.Waits)
	}
	return ""
}

// overdue says whether patience with what is so since a time ended between two looks.
func overdue(since time.Time, looks [2]time.Time) bool {
	return looks[0].Sub(since) < patience && looks[1].Sub(since) >= patience
}

// since is what happened to a machine that was as before, or was not there.
func (m Machine) since(before *Machine, begin time.Time, looks [2]time.Time) []Line {
	at := looks[1].Sub(begin)
	var lines []Line
	if before == nil {
		before = &Machine{Stage: m.Stage, Boots: m.Boots}
		lines = append(lines, Line{After: m.first(begin, at), What: m.Name, Text: "is made"})
	}
	if text := m.power(before); text != "" {
		lines = append(lines, Line{After: at, What: m.Name, Text: text})
	}
	for _, step := range m.Steps {
		if !step.Reached.IsZero() && !before.Reached(step.Step) {
			lines = append(lines, Line{After: step.Reached.Sub(begin), What: m.Name, Step: string(step.Step), Text: "reached"})
		}
	}
	if now, stands := m.stands(); stands && now.Reason != "" && overdue(m.Stood, looks) {
		lines = append(lines, Line{After: at, What: m.Name, Step: string(now.Step), Text: "waits: " + now.Reason})
	}
	return lines
}

// power is what happened to the machine as a whole; nothing if nothing did.
func (m Machine) power(before *Machine) string {
	switch {
	case m.Boots > before.Boots && before.Boots > 0:
		return fmt.Sprintf("boots for the %s time", ordinal(m.Boots))
	case m.Stage != before.Stage && (m.Stage == "off" || m.Stage == "maintenance"):
		return "is in stage " + m.Stage
	}
	return ""
}

// first is when the machine reached its first step, if that was before a time: nobody may have looked at once.
func (m Machine) first(begin time.Time, at time.Duration) time.Duration {
	for _, step := range m.Steps {
		if reached := step.Reached.Sub(begin); !step.Reached.IsZero() && reached < at {
			at = reached
		}
	}
	return at
}

// ordinal is a number in words as far as machines boot.
func ordinal(n int) string {
	words := []string{"", "first", "second", "third", "fourth", "fifth"}
	if n < len(words) {
		return words[n]
	}
	return fmt.Sprintf("%dth", n)
}
