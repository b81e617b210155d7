// SPDX-License-Identifier: Apache-2.0

package invariant

import (
	"fmt"
	"slices"
	"strings"
)

// Declared is what there should be: how many machines each pool of each cluster should have.
type Declared map[string]map[string]int

// Unsettled says what is not as declared yet, in words; nothing if all is.
func Unsettled(now Snapshot, declared Declared) []string {
	found := slices.Concat(clusters(now, declared), missing(now, declared))
	for _, pool := range now.Pools {
		if why := unsettled(pool, now, declared); why != "" {
			found = append(found, fmt.Sprintf("pool %s %s", pool.key(), why))
		}
	}
	for _, name := range now.Going {
		found = append(found, fmt.Sprintf("MachineDeployment %s is being deleted", name))
	}
	found = slices.Concat(found, nodes(now, declared), machines(now, declared))
	slices.Sort(found)
	return found
}

// clusters says which are not as declared.
func clusters(now Snapshot, declared Declared) []string {
	var found []string
	for _, cluster := range now.Clusters {
		switch {
		case declared[cluster.Name] == nil:
			found = append(found, fmt.Sprintf("cluster %s is still there: %s", cluster.Name, cluster.Says))
		case !cluster.Ready:
			found = append(found, fmt.Sprintf("cluster %s is not ready: %s", cluster.Name, cluster.Says))
		case slices.Contains(now.Unseen, cluster.Name):
			found = append(found, fmt.Sprintf("cluster %s does not answer", cluster.Name))
		}
	}
	return found
}

// missing says which clusters and pools are not there.
func missing(now Snapshot, declared Declared) []string {
	there := map[string]bool{}
	for _, cluster := range now.Clusters {
		there["cluster "+cluster.Name] = true
	}
	for _, pool := range now.Pools {
		there["pool "+pool.key()] = true
	}
	var found []string
	expect := func(what string) {
		if !there[what] {
			found = append(found, what+" is not there")
		}
	}
	for cluster, pools := range declared {
		expect("cluster " + cluster)
		for name := range pools {
			expect("pool " + cluster + "/" + name)
		}
	}
	return found
}

// unsettled says why a pool is not as declared.
func unsettled(pool Pool, now Snapshot, declared Declared) string {
	count, known := declared[pool.Cluster][pool.Name]
	switch {
	case !known:
		return "is still there: " + pool.Says
	case pool.Desired != count:
		return fmt.Sprintf("declares %d machines and should %d", pool.Desired, count)
	case !pool.Ready && !(pool.Denied && isHeld(pool, now)):
		return "is not ready: " + pool.Says
	}
	return ""
}

// isHeld says whether another pool has the role that a pool is denied.
func isHeld(denied Pool, now Snapshot) bool {
	return denied.Exclusive && slices.ContainsFunc(now.Pools, func(other Pool) bool {
		return other.Cluster == denied.Cluster && other.Exclusive && other.Ready && other.Name != denied.Name
	})
}

// nodes says which Nodes are not ready, are no machine's, or have another label than their pool declares.
func nodes(now Snapshot, declared Declared) []string {
	pools, labels := map[string]string{}, map[string]string{} // labels by pool, and by machine
	for _, pool := range now.Pools {
		pools[pool.key()] = pool.Label
	}
	for _, machine := range now.Machines {
		if !machine.Kept {
			labels[machine.Cluster+"/"+machine.Name] = pools[machine.Cluster+"/"+machine.Pool]
		}
	}
	var found []string
	for _, node := range now.Nodes {
		name := node.Cluster + "/" + node.Name
		label, known := labels[name]
		switch {
		case declared[node.Cluster] == nil:
		case !node.Ready:
			found = append(found, fmt.Sprintf("Node %s is not ready", name))
		case !known:
			found = append(found, fmt.Sprintf("Node %s is of no machine", name))
		case node.Label != label:
			found = append(found, fmt.Sprintf("Node %s is labelled %q and should be %q", name, node.Label, label))
		}
	}
	return found
}

// machines says which are no Nodes.
func machines(now Snapshot, declared Declared) []string {
	seen := map[string]bool{}
	for _, node := range now.Nodes {
		seen[node.Cluster+"/"+node.Name] = true
	}
	var found []string
	for _, machine := range now.Machines {
		known := declared[machine.Cluster] != nil && !slices.Contains(now.Unseen, machine.Cluster)
		if name := machine.Cluster + "/" + machine.Name; known && !machine.Kept && !seen[name] {
			found = append(found, fmt.Sprintf("machine %s is no Node", name))
		}
	}
	return found
}

// AtRest says what is wrong when all is as declared: instances and Nodes that nobody claims.
func AtRest(now Snapshot) []Violation {
	var found []Violation
	claimed, running := map[string]bool{}, map[string]bool{}
	for _, machine := range now.Machines {
		claimed[machine.Name] = true
	}
	for _, instance := range now.Instances {
		running[instance.ID] = true
		if !claimed[instance.Name] {
			found = append(found, violation(Orphans, "the %s has instance %s, which is called %s, and no machine claims it", instance.Place, instance.ID, instance.Name))
		}
	}
	for _, node := range now.Nodes {
		if !running[node.Instance] {
			found = append(found, violation(Homeless, "Node %s of cluster %s says that its instance is %q, and no place has that", node.Name, node.Cluster, node.Instance))
		}
	}
	return found
}

// Left says what is wrong when all was removed: whatever is left, by name, in either API server or in a place.
func Left(now Snapshot, others []string) []Violation {
	found := slices.Clone(others)
	for _, cluster := range now.Clusters {
		found = append(found, fmt.Sprintf("TalosCluster %s (%s)", cluster.Name, cluster.Says))
	}
	for _, pool := range now.Pools {
		found = append(found, fmt.Sprintf("NodePool %s (%s)", pool.key(), pool.Says))
	}
	for _, machine := range now.Machines {
		found = append(found, fmt.Sprintf("machine %s/%s", machine.Cluster, machine.Name))
	}
	for _, instance := range now.Instances {
		found = append(found, fmt.Sprintf("instance %s in the %s", instance.Name, instance.Place))
	}
	if len(found) == 0 {
		return nil
	}
	slices.Sort(found)
	return []Violation{violation(Removed, "there is %s", strings.Join(found, ", "))}
}

// Fingerprint stands for how far things are: while it changes, something goes on.
func Fingerprint(now Snapshot, unsettled []string) string {
	var parts []string
	for _, machine := range now.Machines {
		parts = append(parts, fmt.Sprint(machine))
	}
	for _, instance := range now.Instances {
		parts = append(parts, fmt.Sprint(instance))
	}
	for _, node := range now.Nodes {
		parts = append(parts, fmt.Sprint(node))
	}
	slices.Sort(parts)
	return strings.Join(append(parts, unsettled...), "\n")
}
