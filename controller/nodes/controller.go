// SPDX-License-Identifier: Apache-2.0

// Package nodes looks after what machines leave behind, with one loop for each tenant cluster: Nodes whose instance is gone, on the
// place's word, and instances that no machine claims.
package nodes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	"minos.dev/minos/controller/machine"
	"minos.dev/minos/controller/metrics"
	"minos.dev/minos/controller/tenant"
	"minos.dev/minos/plan/machines"
	"minos.dev/minos/plan/names"
)

// The defaults: how often a cluster is looked at, and how old an instance is that nobody claims before it is removed.
const (
	Interval = time.Minute
	Grace    = 15 * time.Minute
)

// A Controller looks after the leftovers of clusters.
type Controller struct {
	// Client reads from a cache.
	Client client.Client
	// Truth reads what is so now: nothing is removed on the word of a cache. It is asked only when something is to be removed.
	Truth client.Reader
	// Tenants reaches the API servers of clusters.
	Tenants *tenant.Clients
	// Places are those that are served.
	Places machine.Places
	// Installation tells this Minos from another that uses the same account.
	Installation string
	// Interval and Grace are the defaults if they are zero.
	Interval, Grace time.Duration
	// ReportOnly says which instances are left over and removes none of them.
	ReportOnly bool
	// Events tells people; nil tells nobody.
	Events events.EventRecorder
	// Metrics takes what is left over and removed; nil takes nothing.
	Metrics *metrics.Metrics
	// Now is the clock; nil is the real one.
	Now func() time.Time

	told sync.Map // what was said of a cluster, so that it is said once
}

// SetupWithManager looks at every cluster.
func (c *Controller) SetupWithManager(m manager.Manager) error {
	skip := true // tests start several managers in one process
	return builder.ControllerManagedBy(m).Named("nodes").For(&api.TalosCluster{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: 8, SkipNameValidation: &skip}).
		Complete(reconcile.AsReconciler(m.GetClient(), c))
}

// Reconcile looks at one cluster: what cannot be asked now is asked the next time, and holds nothing else up.
func (c *Controller) Reconcile(ctx context.Context, cluster *api.TalosCluster) (reconcile.Result, error) {
	known, err := c.machines(ctx, cluster)
	if err != nil {
		return reconcile.Result{}, err
	}
	places, failed := c.places(ctx, cluster, known)
	err = errors.Join(failed, c.nodes(ctx, cluster, known, places), c.orphans(ctx, cluster, known, places))
	if err != nil {
		log.FromContext(ctx).Info("some leftovers could not be looked at", "cause", err.Error())
	}
	every := c.Interval
	if every == 0 {
		every = Interval
	}
	return reconcile.Result{RequeueAfter: every}, nil
}

// machines are those of a cluster, by name, as far as the cache knows. Before something is removed, the API server is asked.
func (c *Controller) machines(ctx context.Context, cluster *api.TalosCluster) (map[string]*api.TalosMachine, error) {
	var all api.TalosMachineList
	err := c.Client.List(ctx, &all, client.InNamespace(cluster.Namespace), client.MatchingLabels{names.LabelCluster: cluster.Name})
	if err != nil {
		return nil, fmt.Errorf("list the machines of cluster %s: %w", cluster.Name, err)
	}
	found := map[string]*api.TalosMachine{}
	for at := range all.Items {
		found[all.Items[at].Name] = &all.Items[at]
	}
	return found, nil
}

// places are those in which the cluster has pools or machines. One that cannot be found hides nothing of the others.
func (c *Controller) places(ctx context.Context, cluster *api.TalosCluster, known map[string]*api.TalosMachine) (map[string]backend.Place, error) {
	var pools api.NodePoolList
	if err := c.Client.List(ctx, &pools, client.InNamespace(cluster.Namespace)); err != nil {
		return nil, err
	}
	references := map[api.LocationReference]bool{}
	for at := range pools.Items {
		if pool := &pools.Items[at]; string(pool.Spec.ClusterName) == cluster.Name && c.Places[pool.Spec.Machine.Member()] != nil {
			references[pool.Spec.LocationRef] = true
		}
	}
	for _, one := range known {
		references[one.Spec.LocationRef] = true
	}
	found := map[string]backend.Place{}
	var failed []error
	for reference := range references {
		place, _, err := c.Places.Find(ctx, c.Client, cluster.Namespace, reference)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		found[machine.LocationText(reference)] = place
	}
	return found, errors.Join(failed...)
}

// owner is whom the instances of a cluster belong to.
func (c *Controller) owner(cluster *api.TalosCluster) backend.Owner {
	return backend.Owner{Installation: c.Installation, Cluster: string(cluster.UID)}
}

// now is the time.
func (c *Controller) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

// What is told of.
const (
	aboutNodes   = "NodesLeft"
	aboutOrphans = "InstancesLeft"
)

// tell tells people something about a cluster, once.
func (c *Controller) tell(cluster *api.TalosCluster, about, text string) {
	type key struct {
		cluster types.UID
		about   string
	}
	before, _ := c.told.Swap(key{cluster.UID, about}, text)
	if text == "" || before == text || c.Events == nil {
		return
	}
	c.Events.Eventf(cluster, nil, corev1.EventTypeWarning, about, about, "%s", text)
}

// say is what is held or removed, in a line.
func say(verdicts machines.Verdicts, remove string) string {
	text := verdicts.Stopped
	for _, one := range verdicts.Remove {
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf("%s %s: %s", one.Name, remove, one.Reason)
	}
	return text
}
