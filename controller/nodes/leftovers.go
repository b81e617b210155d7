// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	"minos.dev/minos/controller/machine"
	"minos.dev/minos/controller/metrics"
	"minos.dev/minos/plan/machines"
	"minos.dev/minos/plan/virtual"
	"minos.dev/minos/talos/config"
)

// calling is how long a place may take to answer.
const calling = 30 * time.Second

// nodes removes the Nodes of a cluster whose instance is gone.
func (c *Controller) nodes(ctx context.Context, cluster *api.TalosCluster, known map[string]*api.TalosMachine, places map[string]backend.Place) error {
	tenant, err := c.Tenants.Client(ctx, cluster)
	if err != nil {
		return client.IgnoreNotFound(err) // a cluster without credentials has no Nodes yet
	}
	var all corev1.NodeList
	if err := tenant.List(ctx, &all); err != nil {
		return fmt.Errorf("list the Nodes of cluster %s: %w", cluster.Name, err)
	}
	var left []machines.Left
	found := map[string]*corev1.Node{}
	for at := range all.Items {
		node := &all.Items[at]
		if known[node.Name] != nil {
			continue // its machine looks after it
		}
		if one := c.leftNode(ctx, cluster, node, places); one != nil {
			found[node.Name] = node
			left = append(left, *one)
		}
	}
	c.Metrics.Left(client.ObjectKeyFromObject(cluster), metrics.Node, len(left))
	verdicts := machines.Vanished(left, len(all.Items))
	for _, one := range verdicts.Remove {
		node := found[one.Name]
		if claimed, err := c.claimed(ctx, cluster, node.Name, claimant(node)); claimed || err != nil {
			return err // all of it is looked at again, with a cache that knows more
		}
		if err := client.IgnoreNotFound(tenant.Delete(ctx, node, client.Preconditions{UID: &node.UID})); err != nil {
			return fmt.Errorf("delete Node %s: %w", node.Name, err)
		}
		c.Metrics.Removed(metrics.Node)
	}
	c.tell(cluster, aboutNodes, say(verdicts, "was removed"))
	return nil
}

// leftNode is a Node that no machine claims, with the word of its place; nil for one that is not ours, or not left over.
func (c *Controller) leftNode(ctx context.Context, cluster *api.TalosCluster, node *corev1.Node, places map[string]backend.Place) *machines.Left {
	if node.Annotations[machines.AnnotationInstance] != "" && node.Annotations[machines.AnnotationCluster] == string(cluster.UID) {
		left := c.ask(ctx, cluster, node, places)
		return &left
	}
	if node.Labels[config.BirthLabel] != string(cluster.UID) {
		return nil
	}
	if left := c.askVirtual(ctx, cluster, node); left.Gone || left.Unknown != "" {
		return &left
	}
	return nil
}

// claimant is the kind of machine that would claim a Node.
func claimant(node *corev1.Node) client.Object {
	if node.Annotations[machines.AnnotationInstance] == "" {
		return virtualMachine()
	}
	return &api.TalosMachine{}
}

// askVirtual looks for the virtual machine of a Node that Cluster API made. It removes the Node with it, unless it has never seen
// that there is one: when the cluster could not be reached just then.
func (c *Controller) askVirtual(ctx context.Context, cluster *api.TalosCluster, node *corev1.Node) machines.Left {
	left := machines.Left{Name: node.Name, Alive: isReady(node)}
	switch err := c.Client.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: node.Name}, virtualMachine()); {
	case apierrors.IsNotFound(err):
		left.Gone = true
	case err != nil:
		left.Unknown = err.Error()
	}
	return left
}

// virtualMachine is what Cluster API's provider for KubeVirt calls one.
func virtualMachine() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(virtual.VirtualMachineKind)
	return object
}

// ask asks the place for the instance of a Node.
func (c *Controller) ask(ctx context.Context, cluster *api.TalosCluster, node *corev1.Node, places map[string]backend.Place) machines.Left {
	left := machines.Left{Name: node.Name, Alive: isReady(node)}
	where := node.Annotations[machines.AnnotationLocation]
	place := places[where]
	if place == nil {
		var err error
		if place, err = c.place(ctx, cluster, where); err != nil {
			left.Unknown = err.Error()
			return left
		}
	}
	ctx, cancel := context.WithTimeout(ctx, calling)
	defer cancel()
	_, err := place.Get(ctx, c.owner(cluster), node.Annotations[machines.AnnotationInstance])
	switch {
	case err == nil:
	case backend.ReasonOf(err) == backend.Gone:
		left.Gone = true
	default:
		left.Unknown = err.Error()
	}
	return left
}

// place finds the place that a Node names and no pool does any more.
func (c *Controller) place(ctx context.Context, cluster *api.TalosCluster, where string) (backend.Place, error) {
	kind, name, _ := strings.Cut(where, "/")
	place, location, err := c.Places.Find(ctx, c.Client, cluster.Namespace, api.LocationReference{Kind: api.LocationKind(kind), Name: api.Name(name)})
	if err != nil {
		return nil, err
	}
	return place, machine.Admit(ctx, c.Client, cluster.Namespace, location) // whoever administers the cluster can write what a Node says
}

// isReady says whether a Node says that it is.
func isReady(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// orphans removes the instances of a cluster that no machine claims, or only tells of them. A place that does not answer hides
// nothing of the others.
func (c *Controller) orphans(ctx context.Context, cluster *api.TalosCluster, known map[string]*api.TalosMachine, places map[string]backend.Place) error {
	var texts []string
	var failed []error
	count, complete := 0, true
	for _, where := range slices.Sorted(maps.Keys(places)) {
		place := places[where]
		listing, cancel := context.WithTimeout(ctx, calling)
		all, err := place.List(listing, c.owner(cluster))
		cancel()
		if err != nil {
			complete = false
			failed = append(failed, fmt.Errorf("list the instances of cluster %s in %s: %w", cluster.Name, where, err))
			continue
		}
		claimed := func(instance backend.Instance) bool {
			return known[instance.Name] != nil || instance.State == backend.Deleting
		}
		unclaimed := slices.DeleteFunc(slices.Clone(all), claimed)
		count += len(unclaimed)
		verdicts := c.judge(unclaimed, len(all))
		will := "is removed"
		if c.ReportOnly {
			will = "would be removed"
		}
		if text := say(verdicts, "in "+where+" "+will); text != "" {
			texts = append(texts, text)
		}
		for _, one := range verdicts.Remove {
			at := slices.IndexFunc(unclaimed, func(instance backend.Instance) bool { return instance.Name == one.Name })
			failed = append(failed, c.remove(ctx, cluster, place, unclaimed[at]))
		}
	}
	if complete {
		c.Metrics.Left(client.ObjectKeyFromObject(cluster), metrics.Instance, count)
	}
	c.tell(cluster, aboutOrphans, strings.Join(texts, "; "))
	return errors.Join(failed...)
}

// judge decides about instances that no machine claims.
func (c *Controller) judge(unclaimed []backend.Instance, all int) machines.Verdicts {
	var left []machines.Left
	for _, instance := range unclaimed {
		left = append(left, machines.Left{Name: instance.Name, Made: instance.Created})
	}
	return machines.Orphans(left, all, cmp.Or(c.Grace, Grace), c.now())
}

// claimed says whether there is a machine of a name, by the word of the API server itself.
func (c *Controller) claimed(ctx context.Context, cluster *api.TalosCluster, name string, kind client.Object) (bool, error) {
	err := c.Truth.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: name}, kind)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for machine %s: %w", name, err)
	}
	return true, nil
}

// remove has an instance removed, unless a machine that was made meanwhile claims it.
func (c *Controller) remove(ctx context.Context, cluster *api.TalosCluster, place backend.Place, instance backend.Instance) error {
	if c.ReportOnly {
		return nil
	}
	if claimed, err := c.claimed(ctx, cluster, instance.Name, &api.TalosMachine{}); claimed || err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, calling)
	defer cancel()
	if err := place.Delete(ctx, c.owner(cluster), instance.ID); err != nil {
		return fmt.Errorf("delete instance %s: %w", instance.Name, err)
	}
	c.Metrics.Removed(metrics.Instance)
	return nil
}
