// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"cmp"

	api "minos.dev/minos/api/v1alpha1"
)

// older says whether a pool comes before another where not both can have what they want: the one that was made first. The API
// server knows seconds only; of two pools of one second, the one that has begun to make machines comes first, and then the name
// decides.
func older(a, b *api.NodePool) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	if begun := a.Status.Revision != ""; begun != (b.Status.Revision != "") {
		return begun
	}
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name)) < 0
}

// same says whether two are the same pool.
func same(a, b *api.NodePool) bool { return a.Namespace == b.Namespace && a.Name == b.Name }

// Claim is how many machines a pool may come to have by what it declares.
func Claim(pool *api.NodePool) int32 {
	switch {
	case pool.Spec.Machine.Metal != nil:
		return int32(len(pool.Spec.Machine.Metal.Hosts))
	case pool.Spec.Replicas != nil:
		return *pool.Spec.Replicas
	case pool.Spec.Autoscaling != nil && pool.Spec.Autoscaling.Max != nil:
		return *pool.Spec.Autoscaling.Max
	}
	return 0
}
