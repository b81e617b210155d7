// SPDX-License-Identifier: Apache-2.0

package invariant

import (
	"maps"
	"slices"
	"strings"
)

// gateways wants one machine, and one instance, at most of the roles of which a cluster has one. A machine that is kept for study
// is no gateway any more, but what runs for it is.
func gateways(now Snapshot) []Violation {
	exclusive, cluster := map[string]bool{}, map[string]string{} // by pool, and by machine
	for _, pool := range now.Pools {
		exclusive[pool.key()] = pool.Exclusive
	}
	machines, instances := map[string][]string{}, map[string][]string{}
	for _, machine := range now.Machines {
		if !exclusive[machine.Cluster+"/"+machine.Pool] {
			continue
		}
		cluster[machine.Name] = machine.Cluster
		if !machine.Kept {
			machines[machine.Cluster] = append(machines[machine.Cluster], machine.Name)
		}
	}
	for _, instance := range now.Instances {
		if of, known := cluster[instance.Name]; known && !instance.Ending {
			instances[of] = append(instances[of], instance.Name)
		}
	}
	var found []Violation
	for _, kind := range []struct {
		what string
		by   map[string][]string
	}{{"machines", machines}, {"instances", instances}} {
		for _, cluster := range slices.Sorted(maps.Keys(kind.by)) {
			if all := kind.by[cluster]; len(all) > 1 {
				found = append(found, violation(Gateways, "cluster %s has %d %s of a role of which it may have one: %s", cluster, len(all), kind.what, strings.Join(all, ", ")))
			}
		}
	}
	return found
}

// once wants a machine to have had one instance only, and a name one instance at a time.
func (h *History) once(now Snapshot) []Violation {
	var found []Violation
	for _, machine := range now.Machines {
		before := h.instance[machine.Identity]
		if before != "" && machine.Instance != "" && before != machine.Instance {
			found = append(found, violation(Once, "machine %s of cluster %s had instance %s, and has %s", machine.Name, machine.Cluster, before, machine.Instance))
		}
		if machine.Instance != "" {
			h.instance[machine.Identity] = machine.Instance
		}
	}
	for _, instance := range now.Instances {
		name := instance.Place + "/" + instance.Name // no name is given twice, also not in another cluster
		if before := h.made[name]; before != "" && before != instance.ID {
			found = append(found, violation(Once, "for machine %s the %s has made instance %s, and before that %s", instance.Name, instance.Place, instance.ID, before))
		}
		h.made[name] = instance.ID
	}
	return found
}

// unchanged wants Secrets that are written once to hold what they held.
func (h *History) unchanged(now Snapshot) []Violation {
	var found []Violation
	for _, secret := range now.Secrets {
		name := strings.Join([]string{secret.Cluster, secret.Name, secret.Owner}, "/")
		if before := h.secrets[name]; before != "" && before != secret.Sum {
			found = append(found, violation(Unchanged, "Secret %s of cluster %s holds something else than before", secret.Name, secret.Cluster))
		}
		h.secrets[name] = secret.Sum
	}
	return found
}
