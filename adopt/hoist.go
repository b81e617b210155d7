// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"encoding/json"
	"slices"

	"minos.dev/minos/adopt/patch"
)

// hoist moves up what all of several lists of steps share and what may move, and returns it. A step that moves up is
// applied before all that stay. Where something that it passes cares, it is said again, if saying it twice does no harm and
// most lists do not care; else it stays.
func hoist(lists []*[]Step, may func(Step) bool) []Step {
	if len(lists) == 0 {
		return nil
	}
	var shared []Step
	before := make([][]string, len(lists))
	for j, list := range lists {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].id = content((*list)[i])
		}
		before[j] = contents(*list)
	}
	for _, step := range slices.Clone(*lists[0]) {
		if may(step) && follows(step, shared, before) && take(step, lists) {
			shared = append(shared, step)
		}
	}
	return shared
}

// take takes a step out of all lists, and says whether that can be done.
func take(step Step, lists []*[]Step) bool {
	at, everywhere := positions(step, lists)
	if !everywhere {
		return false
	}
	stay := blocked(step, at, lists)
	if len(stay) > 0 && (2*len(stay) >= len(lists) || !twice(step)) {
		return false
	}
	for j, list := range lists {
		if !slices.Contains(stay, j) {
			*list = slices.Delete(slices.Clone(*list), at[j], at[j]+1)
		}
	}
	return true
}

// positions finds a step in every list.
func positions(step Step, lists []*[]Step) ([]int, bool) {
	id := content(step)
	at := make([]int, len(lists))
	for j, list := range lists {
		if at[j] = slices.Index(contents(*list), id); at[j] < 0 {
			return nil, false
		}
	}
	return at, true
}

// blocked are the lists in which a step cannot pass all that stand before it.
func blocked(step Step, at []int, lists []*[]Step) []int {
	var found []int
	for j, list := range lists {
		cares := func(passed Step) bool { return !patch.Commute(passed.documents(), step.documents()) }
		if slices.ContainsFunc((*list)[:at[j]], cares) {
			found = append(found, j)
		}
	}
	return found
}

// twice says whether a step can be applied twice: lists would be appended twice, and what is removed is not there the
// second time.
func twice(step Step) bool {
	for _, fields := range step.documents() {
		if !patch.Commute([]patch.Document{fields}, []patch.Document{fields}) || removes(fields) {
			return false
		}
	}
	return true
}

func removes(fields patch.Document) bool {
	for key, value := range fields {
		below, ok := value.(patch.Document)
		if key == patch.Deletion || ok && removes(below) {
			return true
		}
	}
	return false
}

// follows says whether a step may stand behind those that moved up already: it stood behind them in every list, or none of
// them cares.
func follows(step Step, shared []Step, before [][]string) bool {
	for _, moved := range shared {
		behind := !slices.ContainsFunc(before, func(list []string) bool {
			return slices.Index(list, content(moved)) > slices.Index(list, content(step))
		})
		if !behind && !patch.Commute(moved.documents(), step.documents()) {
			return false
		}
	}
	return true
}

// content is what a step says, whatever its place: two machines share a step that says the same.
func content(step Step) string {
	if step.id != "" {
		return step.id
	}
	text, err := json.Marshal(step.documents()) // with sorted keys
	if err != nil {
		return step.Origin.String()
	}
	return string(text)
}

func contents(steps []Step) []string {
	all := make([]string, len(steps))
	for i, step := range steps {
		all[i] = content(step)
	}
	return all
}
