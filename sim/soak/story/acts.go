// SPDX-License-Identifier: Apache-2.0

package story

import "slices"

// ways are what people do, as often as it stands here. Each says whether it could.
func (t *teller) ways() []func(cluster string) bool {
	return []func(string) bool{
		t.scale, t.scale, t.scale, t.resize, t.resize, t.relabel, t.patch, t.grow, t.grow, t.shrink, t.race, t.deleteMachine, t.another,
	}
}

// act has somebody do something that makes sense.
func (t *teller) act() {
	ways := t.ways()
	t.dice.Shuffle(len(ways), func(a, b int) { ways[a], ways[b] = ways[b], ways[a] })
	for _, way := range ways {
		cluster, found := one(t.dice, t.world.names())
		if found && way(cluster) {
			return
		}
	}
}

// pool chooses one of a cluster's.
func (t *teller) pool(cluster string, accepts func(Pool) bool) (string, bool) {
	return one(t.dice, t.world.Clusters[cluster].names(accepts))
}

// isOrdinary says whether a pool may have any number of machines.
func isOrdinary(pool Pool) bool { return pool.Role != Gateway }

// isFilled says whether a pool has machines.
func isFilled(pool Pool) bool { return pool.Replicas > 0 }

// another number than the one before.
func (t *teller) other(than, limit int) int { return (than + 1 + t.dice.IntN(limit-1)) % limit }

func (t *teller) scale(cluster string) bool {
	name, found := t.pool(cluster, isOrdinary)
	if found {
		t.add(Deed{Kind: ScalePool, Cluster: cluster, Pool: name, Number: t.other(t.world.Clusters[cluster][name].Replicas, t.bounds.Replicas+1)})
	}
	return found
}

func (t *teller) resize(cluster string) bool {
	name, found := t.pool(cluster, isFilled)
	if found {
		t.add(Deed{Kind: ResizePool, Cluster: cluster, Pool: name, Number: t.other(t.world.Clusters[cluster][name].Size, 4)})
	}
	return found
}

func (t *teller) relabel(cluster string) bool {
	name, found := t.pool(cluster, isFilled)
	if found {
		t.add(Deed{Kind: RelabelPool, Cluster: cluster, Pool: name, Number: t.other(t.world.Clusters[cluster][name].Label, 4)})
	}
	return found
}

func (t *teller) patch(cluster string) bool {
	name, found := t.pool(cluster, isFilled)
	if found {
		t.add(Deed{Kind: PatchPool, Cluster: cluster, Pool: name, Number: t.other(t.world.Clusters[cluster][name].Configuration, 4)})
	}
	return found
}

// grow makes a pool.
func (t *teller) grow(cluster string) bool {
	has := t.world.Clusters[cluster]
	if len(has) >= t.bounds.Pools {
		return false
	}
	free := slices.DeleteFunc(slices.Clone(pools), func(name string) bool { _, taken := has[name]; return taken })
	name, found := one(t.dice, free)
	if found {
		place, _ := one(t.dice, []Place{House, Cloud})
		role, _ := one(t.dice, []string{Plain, Plain, Storage})
		t.add(Deed{Kind: MakePool, Cluster: cluster, Pool: name, Place: place, What: role, Number: t.dice.IntN(t.bounds.Replicas + 1)})
	}
	return found
}

// shrink removes a pool.
func (t *teller) shrink(cluster string) bool {
	name, found := t.pool(cluster, all)
	if found {
		t.add(Deed{Kind: RemovePool, Cluster: cluster, Pool: name})
	}
	return found
}

// race makes two pools at once that both want to be the gateway.
func (t *teller) race(cluster string) bool {
	has := t.world.Clusters[cluster]
	if len(has.names(func(pool Pool) bool { return pool.Role == Gateway })) > 0 {
		return false
	}
	order := slices.Clone(gateways)
	t.dice.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
	for _, name := range order {
		t.add(Deed{Kind: MakePool, Cluster: cluster, Pool: name, Place: Cloud, What: Gateway, Number: 1})
	}
	return true
}

// deleteMachine has a tenant delete a machine, which is then replaced.
func (t *teller) deleteMachine(cluster string) bool {
	name, found := t.pool(cluster, isFilled)
	if found {
		t.add(Deed{Kind: DeleteMachine, Cluster: cluster, Pool: name, Number: t.dice.IntN(t.bounds.Replicas)})
	}
	return found
}

// another makes a cluster that there is not yet, with a pool, or removes one of several.
func (t *teller) another(cluster string) bool {
	if len(t.world.Clusters) > 1 {
		for _, name := range t.world.Clusters[cluster].names(all) {
			t.add(Deed{Kind: RemovePool, Cluster: cluster, Pool: name})
		}
		t.add(Deed{Kind: RemoveCluster, Cluster: cluster})
		return true
	}
	for _, name := range clusters[:min(t.bounds.Clusters, len(clusters))] {
		if _, taken := t.world.Clusters[name]; taken {
			continue
		}
		t.add(Deed{Kind: MakeCluster, Cluster: name})
		t.add(Deed{Kind: MakePool, Cluster: name, Pool: pools[0], Place: Cloud, What: Plain, Number: 1})
		return true
	}
	return false
}
