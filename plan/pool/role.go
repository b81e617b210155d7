// SPDX-License-Identifier: Apache-2.0

package pool

import (
	api "minos.dev/minos/api/v1alpha1"
)

// Play decides whether a pool may have its role. Siblings are the pools of the same cluster.
func Play(pool *api.NodePool, role *api.NodeRole, cluster *api.TalosCluster, siblings []api.NodePool) *Refusal {
	if role.Spec.MachineType == api.MachineControlPlane && cluster.Spec.ControlPlane.Talos == nil {
		return Refuse(api.ReasonInvalid, "role %s is for machines that run a control plane, and TalosCluster %s has one elsewhere: choose a role for workers", role.Name, cluster.Name)
	}
	if refusal := unequipped(pool, role); refusal != nil {
		return refusal
	}
	switch role.Spec.PerCluster {
	case api.PerClusterOne:
		if refusal := second(pool, role, cluster, siblings); refusal != nil {
			return refusal
		}
		if Claim(pool) > 1 {
			return Refuse(api.ReasonInvalid, "a cluster has one machine of role %s, and the pool wants %d: lower it to 1, or choose a role whose perCluster is HA", role.Name, Claim(pool))
		}
	case api.PerClusterHA:
		return second(pool, role, cluster, siblings)
	case api.PerClusterAny:
	}
	return nil
}

// unequipped refuses machines without the hardware that the role needs.
func unequipped(pool *api.NodePool, role *api.NodeRole) *Refusal {
	machine, wants := pool.Spec.Machine.KubeVirt, role.Spec.Hardware
	if machine == nil || wants == nil || wants.GPU == "" || len(machine.GPUs) > 0 {
		return nil
	}
	return Refuse(api.ReasonInvalid, "role %s needs a graphics processor of %s, without which its machines do not end their boot: set machine.kubevirt.gpus", role.Name, wants.GPU)
}

// second refuses a role that another pool of the cluster has: the one that is written down for it, or while there is none, an older
// one.
func second(pool *api.NodePool, role *api.NodeRole, cluster *api.TalosCluster, siblings []api.NodePool) *Refusal {
	if has := holder(pool.Spec.Role, cluster, siblings); has != nil {
		if same(has, pool) {
			return nil
		}
		return late(role, has)
	}
	for at := range siblings {
		other := &siblings[at]
		if !same(other, pool) && other.Spec.Role == pool.Spec.Role && older(other, pool) {
			return late(role, other)
		}
	}
	return nil
}

// late refuses a role that a pool has.
func late(role *api.NodeRole, by *api.NodePool) *Refusal {
	return Refuse(api.ReasonDenied, "a cluster has one pool of role %s, and NodePool %s came first: delete one of the two, or choose another role", role.Name, by.Name)
}
