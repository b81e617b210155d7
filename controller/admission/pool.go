// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/index"
	"minos.dev/minos/plan/pool"
	"minos.dev/minos/talos/fleet"
)

// judgePool says why a pool is refused. A cluster or a place that does not exist is waited for.
func (g *Guard) judgePool(ctx context.Context, wanted *api.NodePool) (refusal, error) {
	if refused, err := g.place(ctx, wanted); err != nil || refused != none {
		return refused, err
	}
	cluster := &api.TalosCluster{}
	err := g.Client.Get(ctx, client.ObjectKey{Namespace: wanted.Namespace, Name: string(wanted.Spec.ClusterName)}, cluster)
	if apierrors.IsNotFound(err) {
		return none, nil
	}
	if err != nil {
		return none, err
	}
	whole, err := g.fleet(ctx, wanted, cluster)
	if err != nil {
		return none, err
	}
	role, err := whole.Role(wanted)
	if err != nil {
		return refusal{ruleRole, "spec.role: " + err.Error()}, nil
	}
	siblings, err := g.poolsOf(ctx, wanted.Namespace, cluster.Name)
	if err != nil {
		return none, err
	}
	if refused := pool.Play(wanted, role, cluster, siblings); refused != nil {
		return refusal{ruleCardinality, refused.Message}, nil
	}
	return g.tryPool(ctx, wanted, cluster)
}

// place says why a place refuses a pool.
func (g *Guard) place(ctx context.Context, wanted *api.NodePool) (refusal, error) {
	spec, err := g.location(ctx, wanted)
	if err != nil || spec == nil {
		return none, err
	}
	namespace := &corev1.Namespace{}
	if err := g.Client.Get(ctx, client.ObjectKey{Name: wanted.Namespace}, namespace); err != nil {
		return none, client.IgnoreNotFound(err)
	}
	pools := &api.NodePoolList{}
	if pool.IsShared(spec) { // or thousands would be looked at for each of them
		if err := g.Client.List(ctx, pools, client.MatchingFields{index.Location: index.Of(wanted)}); err != nil {
			return none, err
		}
	}
	granted := pool.Locate(wanted, pool.Placement{Spec: spec, Namespace: namespace.Labels, Pools: pools.Items})
	if granted.Refusal == nil {
		return none, nil
	}
	return refusal{rulePlace, granted.Refusal.Message}, nil
}

// location reads the place that a pool names; nil if it does not exist.
func (g *Guard) location(ctx context.Context, wanted *api.NodePool) (*api.LocationSpec, error) {
	name := client.ObjectKey{Name: string(wanted.Spec.LocationRef.Name)}
	if wanted.Spec.LocationRef.Kind == api.KindClusterLocation {
		found := &api.ClusterLocation{}
		if err := g.Client.Get(ctx, name, found); err != nil {
			return nil, client.IgnoreNotFound(err)
		}
		return &found.Spec, nil
	}
	name.Namespace = wanted.Namespace
	found := &api.Location{}
	if err := g.Client.Get(ctx, name, found); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return &found.Spec, nil
}

// tryPool makes the configuration of a pool's machines with placeholders, and says what is wrong with it: among others a patch
// that touches what is protected.
func (g *Guard) tryPool(ctx context.Context, wanted *api.NodePool, cluster *api.TalosCluster) (refusal, error) {
	if spec, err := g.location(ctx, wanted); err != nil || spec == nil {
		return none, err
	}
	whole, err := g.fleet(ctx, wanted, cluster)
	if err != nil {
		return none, err
	}
	if err := whole.Trial(wanted); err != nil {
		return refusal{ruleConfiguration, err.Error()}, nil
	}
	return none, nil
}

// fleet is what decides a pool's configuration.
func (g *Guard) fleet(ctx context.Context, wanted *api.NodePool, cluster *api.TalosCluster) (*fleet.Fleet, error) {
	objects := []load.Object{cluster, wanted}
	spec, err := g.location(ctx, wanted)
	if err != nil {
		return nil, err
	}
	if spec != nil {
		objects = append(objects, place(wanted, spec))
	}
	roles := &api.NodeRoleList{}
	if err := g.Client.List(ctx, roles); err != nil {
		return nil, err
	}
	for at := range roles.Items {
		objects = append(objects, &roles.Items[at])
	}
	return fleet.New(objects)
}

// place is a pool's place as an object.
func place(wanted *api.NodePool, spec *api.LocationSpec) load.Object {
	name := string(wanted.Spec.LocationRef.Name)
	if wanted.Spec.LocationRef.Kind == api.KindClusterLocation {
		return &api.ClusterLocation{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: *spec}
	}
	return &api.Location{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: wanted.Namespace}, Spec: *spec}
}
