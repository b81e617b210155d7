// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/api/load"
	"minos.dev/minos/api/nearest"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/declarations"
)

// places are the places that the namespace's pools can name, of one kind or of both.
func (l *live) places(ctx context.Context, kind string) (map[api.LocationReference]api.LocationSpec, error) {
	all := map[api.LocationReference]api.LocationSpec{}
	if kind != "" && kind != string(api.KindLocation) && kind != string(api.KindClusterLocation) {
		return nil, fmt.Errorf("--location: %q is not Location or ClusterLocation", kind)
	}
	if kind != string(api.KindClusterLocation) {
		own := &api.LocationList{}
		if err := l.list(ctx, own, client.InNamespace(l.namespace)); err != nil {
			return nil, err
		}
		for _, place := range own.Items {
			all[api.LocationReference{Kind: api.KindLocation, Name: api.Name(place.Name)}] = place.Spec
		}
	}
	if kind != string(api.KindLocation) {
		offered := &api.ClusterLocationList{}
		if err := l.list(ctx, offered); err != nil {
			return nil, err
		}
		for _, place := range offered.Items {
			all[api.LocationReference{Kind: api.KindClusterLocation, Name: api.Name(place.Name)}] = place.Spec
		}
	}
	return all, nil
}

// placeNames are the places in order.
func placeNames(places map[api.LocationReference]api.LocationSpec) []api.LocationReference {
	return slices.SortedFunc(maps.Keys(places), func(a, b api.LocationReference) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
}

// checkPool holds a pool to the rules that a folder is held to, with what is there in the place of the folder. Its cluster may
// come later: that is said, and no mistake.
func (l *live) checkPool(cmd *cobra.Command, pool *api.NodePool) error {
	reader, err := load.NewReader()
	if err != nil {
		return err
	}
	document, err := documentOf(reader, "flags", pool)
	if err != nil {
		return err
	}
	cluster := &api.TalosCluster{}
	there, err := l.mayNotExist(cmd.Context(), client.ObjectKey{Namespace: l.namespace, Name: string(pool.Spec.ClusterName)}, cluster)
	if err != nil {
		return err
	}
	if !there {
		return l.sayWaits(cmd, pool)
	}
	objects, err := l.around(cmd.Context(), pool, cluster)
	if isForbidden(err) {
		say(cmd, "warning: %s: the pool is held to the API server's rules only", err)
		return nil
	}
	if err != nil {
		return err
	}
	documents := []*load.Document{document}
	for _, object := range objects {
		if document, err = documentOf(reader, "there", object); err != nil {
			return fmt.Errorf("%s %s: %w", object.GetObjectKind().GroupVersionKind().Kind, object.GetName(), err)
		}
		documents = append(documents, document)
	}
	return judge(documents)
}

// judge holds documents to the rules between them, and has Talos judge what comes of them.
func judge(documents []*load.Document) error {
	for _, rules := range []func([]*load.Document) ([]load.Problem, error){declarations.References, declarations.Trials} {
		problems, err := rules(documents)
		if err != nil {
			return err
		}
		if problems = ofFlags(problems); len(problems) > 0 {
			return wrong(problems)
		}
	}
	return nil
}

// ofFlags are the problems of what is to be made: what is wrong with what exists is not to be answered for here.
func ofFlags(problems []load.Problem) []load.Problem {
	return slices.DeleteFunc(problems, func(p load.Problem) bool { return p.File != "flags" })
}

// sayWaits says that a pool will wait for its cluster.
func (l *live) sayWaits(cmd *cobra.Command, pool *api.NodePool) error {
	clusters := &api.TalosClusterList{}
	if err := l.list(cmd.Context(), clusters, client.InNamespace(l.namespace)); err != nil {
		return err
	}
	known, err := namesIn(clusters)
	if err != nil {
		return err
	}
	say(cmd, "warning: there is no cluster %q in namespace %q yet, and the pool waits for it%s",
		pool.Spec.ClusterName, l.namespace, nearest.Hint(string(pool.Spec.ClusterName), known))
	return nil
}

// around are the objects that a pool leans on.
func (l *live) around(ctx context.Context, pool *api.NodePool, cluster *api.TalosCluster) ([]client.Object, error) {
	objects := []client.Object{cluster}
	roles := &api.NodeRoleList{}
	if err := l.list(ctx, roles); err != nil {
		return nil, err
	}
	for i := range roles.Items {
		objects = append(objects, &roles.Items[i])
	}
	var place client.Object = &api.Location{}
	key := client.ObjectKey{Namespace: l.namespace, Name: string(pool.Spec.LocationRef.Name)}
	if pool.Spec.LocationRef.Kind == api.KindClusterLocation {
		place, key.Namespace = &api.ClusterLocation{}, ""
	}
	if err := l.explain(l.Get(ctx, key, place)); err != nil {
		return nil, err
	}
	objects = append(objects, place)
	for _, object := range objects {
		kind, err := l.GroupVersionKindFor(object)
		if err != nil {
			return nil, err
		}
		object.GetObjectKind().SetGroupVersionKind(kind)
		object.SetManagedFields(nil)
	}
	return objects, nil
}
