// SPDX-License-Identifier: Apache-2.0

package story

import (
	"slices"
	"time"

	"minos.dev/minos/sim/conduct"
)

// troubles are what goes wrong, as often as it stands here. Each says what it happens to; one thing at a time happens to it.
func (t *teller) troubles() []func(World) (Deed, bool) {
	return []func(World) (Deed, bool){
		t.kill, t.kill, t.kill, t.signer, t.tenant, t.cut, t.cut, t.cut, t.misbehave, t.misbehave, t.misbehave, t.jump, t.die, t.die, t.meddle, t.meddle, t.meddle,
	}
}

// fault has something go wrong.
func (t *teller) fault(world World) {
	troubles := t.troubles()
	t.dice.Shuffle(len(troubles), func(a, b int) { troubles[a], troubles[b] = troubles[b], troubles[a] })
	for _, trouble := range troubles {
		deed, possible := trouble(world)
		if !possible || t.taken[target(deed)] {
			continue
		}
		t.taken[target(deed)] = true
		deed.At = t.within(t.bounds.Length)
		if deed.lasts() {
			deed.For = time.Second/2 + t.within(t.bounds.Length/2)
		}
		t.deeds = append(t.deeds, deed)
		return
	}
}

// target is what something goes wrong with: a place misbehaves in one manner at a time.
func target(deed Deed) string {
	switch deed.Kind {
	case Kill, Cut:
		return deed.What
	case Misbehave, JumpClock:
		return string(deed.Kind)
	case StopSigner, KillTenant:
		return "control plane of " + deed.Cluster
	}
	return deed.Cluster + "/" + deed.Pool
}

// lasts says whether something is wrong for a while.
func (d Deed) lasts() bool { return d.Kind != KillMachine && d.Kind != JumpClock }

func (t *teller) kill(World) (Deed, bool) {
	part, _ := one(t.dice, []string{Operator, Operator, Operator, Management, ClusterAPI, Places})
	return Deed{Kind: Kill, What: part}, true
}

func (t *teller) signer(world World) (Deed, bool) {
	cluster, found := one(t.dice, world.names())
	return Deed{Kind: StopSigner, Cluster: cluster}, found
}

func (t *teller) tenant(world World) (Deed, bool) {
	cluster, found := one(t.dice, world.names())
	return Deed{Kind: KillTenant, Cluster: cluster}, found
}

func (t *teller) cut(World) (Deed, bool) {
	link, _ := one(t.dice, []string{ToManagement, ToPlace, ToTenant, ToSigner, ToServer})
	return Deed{Kind: Cut, What: link, Silent: t.dice.IntN(2) == 0}, true
}

// Manners are all ways in which a place misbehaves.
func Manners() []string {
	manners := []string{Slow, SlowDisks, Late, Few, Busy}
	for _, kind := range conduct.Kinds() {
		manners = append(manners, string(kind))
	}
	return manners
}

func (t *teller) misbehave(World) (Deed, bool) {
	manner, _ := one(t.dice, Manners())
	return Deed{Kind: Misbehave, What: manner}, true
}

func (t *teller) jump(World) (Deed, bool) {
	minutes, _ := one(t.dice, []int{-60, -10, 10, 60})
	return Deed{Kind: JumpClock, Number: minutes}, true
}

// die lets a machine die. That of a house is noticed by the silence of its Node alone.
func (t *teller) die(world World) (Deed, bool) {
	cluster, pool, found := t.aim(world, func(p Pool) bool { return isFilled(p) && (p.Place == Cloud || t.bounds.Patient) })
	return Deed{Kind: KillMachine, Cluster: cluster, Pool: pool, Number: t.dice.IntN(t.bounds.Replicas)}, found
}

// Writes are what somebody else writes into the objects of a pool in a place.
func Writes(place Place) []string {
	writes := []string{UnlabelSecret, UnlabelNode, ClearPool, ClearCluster}
	if place == House {
		return append(writes, EditDeployment, DeleteDeployment, UnlabelTemplate)
	}
	return append(writes, ClearMachine)
}

func (t *teller) meddle(world World) (Deed, bool) {
	cluster, pool, found := t.aim(world, isFilled)
	if !found {
		return Deed{}, false
	}
	write, _ := one(t.dice, Writes(world.Clusters[cluster][pool].Place))
	return Deed{Kind: Meddle, Cluster: cluster, Pool: pool, What: write}, true
}

// aim chooses a pool of any cluster.
func (t *teller) aim(world World, accepts func(Pool) bool) (cluster, pool string, found bool) {
	names := slices.DeleteFunc(world.names(), func(name string) bool { return len(world.Clusters[name].names(accepts)) == 0 })
	if cluster, found = one(t.dice, names); !found {
		return "", "", false
	}
	pool, found = one(t.dice, world.Clusters[cluster].names(accepts))
	return cluster, pool, found
}
