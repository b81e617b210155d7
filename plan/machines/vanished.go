// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"fmt"
	"slices"
	"time"
)

// A Left is a Node, or an instance, that no machine of ours claims.
type Left struct {
	// Name is the Node's or the instance's.
	Name string
	// Gone says that the place says that there is no such instance. Only that makes a Node one that can be removed.
	Gone bool
	// Unknown is why the place could not say; empty if it did.
	Unknown string
	// Alive says that the Node is Ready: somebody runs it, whatever the place says.
	Alive bool
	// Made is when the instance was made, of which a place tells.
	Made time.Time
}

// Verdicts are what to do with what is left over.
type Verdicts struct {
	// Remove can be removed, Hold cannot yet; each with the reason.
	Remove, Hold []Reasoned
	// Stopped is why nothing is removed although some could be; empty if nothing is stopped.
	Stopped string
}

// few are how many may vanish at once in a cluster of any size, and share is the part of all above which nothing is removed.
const (
	few   = 1
	share = 30 // percent
)

// tooMany says whether so many of all at once are a sign that something else is wrong.
func tooMany(count, all int) bool { return count > few && count*100 > all*share }

// Vanished decides which Nodes to remove: those whose instance is gone, on the place's word, and never because of a timer. When many
// vanish at once, none: an account that was changed or a place that lost its books looks the same.
func Vanished(left []Left, all int) Verdicts {
	var v Verdicts
	for _, node := range left {
		switch {
		case node.Unknown != "":
			v.Hold = append(v.Hold, Reasoned{node.Name, "the place cannot say whether its instance is there: " + node.Unknown})
		case !node.Gone:
			v.Hold = append(v.Hold, Reasoned{node.Name, "its instance is there"})
		case node.Alive:
			v.Hold = append(v.Hold, Reasoned{node.Name, "the place says that its instance is gone, and yet it is Ready"})
		default:
			v.Remove = append(v.Remove, Reasoned{node.Name, "the place says that its instance is gone"})
		}
	}
	return v.brake("Nodes", all)
}

// Orphans decides which instances to remove: those that no machine claims and that are older than the grace period.
func Orphans(left []Left, all int, grace time.Duration, now time.Time) Verdicts {
	var v Verdicts
	for _, instance := range left {
		age := now.Sub(instance.Made).Truncate(time.Second)
		if age < grace {
			v.Hold = append(v.Hold, Reasoned{instance.Name, fmt.Sprintf("no TalosMachine claims it; it is %s old and is given %s", age, grace)})
			continue
		}
		v.Remove = append(v.Remove, Reasoned{instance.Name, fmt.Sprintf("no TalosMachine has claimed it for %s", grace)})
	}
	return v.brake("instances", all)
}

// brake holds all back if they are too many.
func (v Verdicts) brake(what string, all int) Verdicts {
	if !tooMany(len(v.Remove), all) {
		return v
	}
	v.Stopped = fmt.Sprintf("%d of %d %s are left over at once, which is more than %d%%: none is removed; look whether the account, the place or the management cluster was changed",
		len(v.Remove), all, what, share)
	v.Hold = slices.Concat(v.Hold, v.Remove)
	v.Remove = nil
	return v
}
