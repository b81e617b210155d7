// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
)

// A Machine is what is seen of one machine.
type Machine struct {
	// Name is its name.
	Name string
	// Ready says that it is a Ready Node.
	Ready bool
	// Failed says that it will not become ready by itself.
	Failed bool
	// Waits is what it waits for, in a few words: "its Node", "trustd". Empty while it is ready.
	Waits string
	// Why is what is known about the cause, without the machine's name: machines that wait for the same are told of together.
	Why string
	// Refused is why Talos does not take the newest revision while the machine runs; empty where it does.
	Refused string
}

// Seen is what is seen of the machines of a pool.
type Seen struct {
	// Desired is how many there should be, Replicas how many there are, Ready how many of those are Ready Nodes, and UpToDate how
	// many have the newest revision.
	Desired, Replicas, Ready, UpToDate int32
	// Passing are those that are about to be gone, or so new that nothing is known of them: no part of a roll-out, whatever they are.
	Passing int32
	// Machines are those that somebody has something to say about.
	Machines []Machine
	// Notes are what people should know of beside that, each a sentence that names its machine.
	Notes []string
}

// MachinesReady says whether there are as many Ready machines as wanted, and if not, why.
func MachinesReady(seen Seen, wanted int32) metav1.Condition {
	text := fmt.Sprintf("%d of %d machines are Ready Nodes", seen.Ready, wanted)
	if seen.Ready >= wanted && seen.Desired >= wanted {
		return True(api.ConditionMachinesReady, "%s", noted(text, seen.Notes))
	}
	reason := api.ReasonProgressing
	if slices.ContainsFunc(seen.Machines, func(machine Machine) bool { return machine.Failed && !machine.Ready }) {
		reason = api.ReasonFailed
	}
	if causes := Causes(seen.Machines, max(wanted, int32(len(seen.Machines)))); causes != "" {
		text += "; " + causes
	}
	return Refuse(reason, "%s", noted(text, seen.Notes)).Condition(api.ConditionMachinesReady)
}

// noted is a text with notes, in an order that does not depend on that in which they were found.
func noted(text string, notes []string) string {
	for at, note := range slices.Sorted(slices.Values(notes)) {
		if at == mentioned {
			return fmt.Sprintf("%s; and %d other machines", text, len(notes)-mentioned)
		}
		text += "; " + note
	}
	return text
}

// UpToDate says whether every machine has the newest revision.
func UpToDate(seen Seen) metav1.Condition {
	if seen.UpToDate+seen.Passing >= seen.Replicas {
		return True(api.ConditionUpToDate, "%s", count(seen.UpToDate, seen.Replicas, "has", "have")+" the newest revision")
	}
	reason, refused := api.ReasonProgressing, refusals(seen.Machines)
	if refused != "" {
		reason = api.ReasonFailed
	}
	return Refuse(reason, "%s", count(seen.UpToDate, seen.Replicas, "has", "have")+" the newest revision; the others are replaced within the limits of rollout"+refused).
		Condition(api.ConditionUpToDate)
}

// mentioned is how many causes are told of. More say less.
const mentioned = 3

// Causes says why machines are not ready: how many of all wait for what, the most frequent first.
func Causes(machines []Machine, of int32) string {
	type cause struct{ waits, why string }
	counts := map[cause]int32{}
	for _, machine := range machines {
		if !machine.Ready && machine.Waits != "" {
			counts[cause{machine.Waits, machine.Why}]++
		}
	}
	var found []cause
	for each := range counts {
		found = append(found, each)
	}
	slices.SortFunc(found, func(a, b cause) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.waits, b.waits), cmp.Compare(a.why, b.why))
	})
	var texts []string
	for at, each := range found {
		if at == mentioned {
			texts = append(texts, fmt.Sprintf("and %d other causes", len(found)-mentioned))
			break
		}
		waits := each.waits
		if own, is := strings.CutPrefix(waits, "its "); is && counts[each] > 1 {
			waits = "their " + own
		}
		text := count(counts[each], of, "waits", "wait") + " for " + waits
		if each.why != "" {
			text += ": " + each.why
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

// count says that so many of all machines do something.
func count(some, all int32, one, many string) string {
	verb := many
	if some == 1 {
		verb = one
	}
	noun := "machines"
	if all == 1 {
		noun = "machine"
	}
	return fmt.Sprintf("%d of %d %s %s", some, all, noun, verb)
}
