// SPDX-License-Identifier: Apache-2.0

package story

import (
	"fmt"
	"slices"
	"time"
)

// A Kind is something that can happen.
type Kind string

// What people do.
const (
	MakeCluster   Kind = "make cluster"
	RemoveCluster Kind = "remove cluster"
	MakePool      Kind = "make pool"
	ScalePool     Kind = "scale pool"
	ResizePool    Kind = "resize pool"
	RelabelPool   Kind = "relabel pool"
	PatchPool     Kind = "patch pool"
	RemovePool    Kind = "remove pool"
	DeleteMachine Kind = "delete machine"
)

// What goes wrong. All but the death of a machine and a jump of a clock have a duration, after which it is mended.
const (
	Kill        Kind = "kill"
	StopSigner  Kind = "stop signer"
	KillTenant  Kind = "kill tenant"
	Cut         Kind = "cut"
	Misbehave   Kind = "misbehave"
	JumpClock   Kind = "jump clock"
	KillMachine Kind = "kill machine"
	Meddle      Kind = "meddle"
)

// Acts are all that people do.
func Acts() []Kind {
	return []Kind{MakeCluster, RemoveCluster, MakePool, ScalePool, ResizePool, RelabelPool, PatchPool, RemovePool, DeleteMachine}
}

// Faults are all that can go wrong.
func Faults() []Kind {
	return []Kind{Kill, StopSigner, KillTenant, Cut, Misbehave, JumpClock, KillMachine, Meddle}
}

// Parts are the programs that are killed.
const (
	Operator   = "operator"
	Management = "management"
	ClusterAPI = "cluster-api"
	Places     = "places"
)

// Links are the ways that are cut: between whom. Each is cut in two manners: connections are refused, or nothing is heard any more.
const (
	ToManagement = "operator to management"
	ToPlace      = "operator to place"
	ToTenant     = "management to tenant"
	ToSigner     = "machine to signer"
	ToServer     = "machine to tenant"
)

// Manners are the ways in which a place misbehaves, beside those of its faults.
const (
	Slow      = "slow"
	SlowDisks = "slow disks"
	Late      = "late"
	Few       = "few"
	Busy      = "busy"
)

// Writes are what somebody else writes into what is ours.
const (
	EditDeployment   = "the limits of the MachineDeployment"
	DeleteDeployment = "the MachineDeployment, away"
	UnlabelSecret    = "the labels of the join Secret"
	UnlabelNode      = "the labels of a Node"
	ClearPool        = "the status of the pool"
	ClearCluster     = "the status of the cluster"
	ClearMachine     = "the status of a machine"
	UnlabelTemplate  = "the labels of the template"
)

// A Deed is one thing that happens.
type Deed struct {
	// At is when, since the round began, and For how long something is wrong. Both are in the time of the story.
	At, For time.Duration
	Kind    Kind
	// Cluster and Pool are what it happens to; empty if it is neither.
	Cluster, Pool string
	// What is which part, link, manner or write; of a new pool, its role.
	What string
	// Place is where a new pool is.
	Place Place
	// Number is how many machines, which size, which label, how large a jump; or which of several.
	Number int
	// Silent says that a link is cut without a word.
	Silent bool
}

// IsFault says whether something goes wrong, and not merely happens.
func (d Deed) IsFault() bool { return d.Kind.IsFault() }

// IsFault says whether a kind is one of what goes wrong.
func (k Kind) IsFault() bool { return slices.Contains(Faults(), k) }

// String is a deed in one line, with its time.
func (d Deed) String() string {
	text := fmt.Sprintf("+%-6s %s", d.At, d.words())
	if d.For > 0 {
		text += fmt.Sprintf(" for %s", d.For)
	}
	return text
}

// words are the deed without its times.
func (d Deed) words() string {
	pool := d.Cluster + "/" + d.Pool
	switch d.Kind {
	case MakeCluster, RemoveCluster, StopSigner, KillTenant:
		return fmt.Sprintf("%s %s", d.Kind, d.Cluster)
	case MakePool:
		return fmt.Sprintf("%s %s: %d of role %s in the %s", d.Kind, pool, d.Number, d.What, d.Place)
	case ScalePool, ResizePool, RelabelPool, PatchPool:
		return fmt.Sprintf("%s %s to %d", d.Kind, pool, d.Number)
	case RemovePool:
		return fmt.Sprintf("%s %s", d.Kind, pool)
	case DeleteMachine, KillMachine:
		return fmt.Sprintf("%s %d of pool %s", d.Kind, d.Number, pool)
	case Cut:
		if d.Silent {
			return fmt.Sprintf("%s %s, silently", d.Kind, d.What)
		}
		return fmt.Sprintf("%s %s", d.Kind, d.What)
	case Meddle:
		return fmt.Sprintf("%s with %s of %s", d.Kind, d.What, pool)
	case JumpClock:
		return fmt.Sprintf("%s of the place by %dm", d.Kind, d.Number)
	case Misbehave:
		return fmt.Sprintf("the place: %s", d.What)
	}
	return fmt.Sprintf("%s %s", d.Kind, d.What)
}
