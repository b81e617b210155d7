// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/preview"
)

// A scene is what is declared, by kind, namespace and name.
type scene struct {
	pools    map[string]*api.NodePool
	clusters map[string]*api.TalosCluster
	places   map[string]api.LocationSpec
	roles    map[string]api.NodeRole
	order    map[string][]string // the keys of each kind that were put in
}

// foreseen is what a folder would do to what is there.
type foreseen struct {
	pools         []preview.Forecast
	clusters      []clusterForecast
	before, after scene
	declared      scene
	forbidden     map[string][]string // what may not change, by object
}

// newScene is an empty one.
func newScene() scene {
	return scene{map[string]*api.NodePool{}, map[string]*api.TalosCluster{}, map[string]api.LocationSpec{}, map[string]api.NodeRole{}, map[string][]string{}}
}

// keyOf names an object of a kind.
func keyOf(kind string, object metav1.Object) string {
	return kind + "/" + object.GetNamespace() + "/" + object.GetName()
}

// put adds an object, or puts it in place of the one of its name.
func (s scene) put(object any) {
	kind, key := "", ""
	switch object := object.(type) {
	case *api.NodePool:
		kind, key = "NodePool", keyOf("NodePool", object)
		s.pools[key] = object
	case *api.TalosCluster:
		kind, key = "TalosCluster", keyOf("TalosCluster", object)
		s.clusters[key] = object
	case *api.Location:
		s.places[keyOf("Location", object)] = object.Spec
	case *api.ClusterLocation:
		s.places[keyOf("ClusterLocation", object)] = object.Spec
	case *api.NodeRole:
		s.roles[object.Name] = *object
	}
	if kind != "" && !slices.Contains(s.order[kind], key) {
		s.order[kind] = append(s.order[kind], key)
	}
}

// names are the keys of a kind, in order.
func (s scene) names(kind string) []string { return slices.Sorted(slices.Values(s.order[kind])) }

// state is all that decides a pool's machines. A pool whose cluster or place is not there waits.
func (s scene) state(of *api.NodePool) preview.State {
	if of == nil {
		return preview.State{}
	}
	namespace := of.Namespace
	if of.Spec.LocationRef.Kind == api.KindClusterLocation {
		namespace = ""
	}
	spec, there := s.places[fmt.Sprintf("%s/%s/%s", of.Spec.LocationRef.Kind, namespace, of.Spec.LocationRef.Name)]
	state := preview.State{Pool: of, Location: spec}
	if there {
		state.Cluster = s.clusters[fmt.Sprintf("TalosCluster/%s/%s", of.Namespace, of.Spec.ClusterName)]
	}
	for _, name := range slices.Sorted(maps.Keys(s.roles)) {
		state.Roles = append(state.Roles, s.roles[name])
	}
	return state
}

// foresee foretells what applying a folder does.
func (l *live) foresee(ctx context.Context, dir string) (foreseen, error) {
	found := foreseen{pools: []preview.Forecast{}, before: newScene(), after: newScene(), declared: newScene(), forbidden: map[string][]string{}}
	declared, err := readFolder(ctx, dir)
	if err != nil {
		return found, err
	}
	if len(declared.problems) > 0 {
		return found, Hint(fmt.Errorf("%s: %s", dir, declared.problems[0]), "'minos check "+dir+"' says all that is wrong")
	}
	spaces := map[string]bool{l.namespace: true}
	for _, document := range declared.documents {
		if document.Object.GetNamespace() == metav1.NamespaceDefault {
			document.Object.SetNamespace(l.namespace)
		}
		if space := document.Object.GetNamespace(); space != "" {
			spaces[space] = true
		}
	}
	there, err := l.everything(ctx, slices.Sorted(maps.Keys(spaces)))
	if err != nil {
		return found, err
	}
	if err := found.overlay(there, declared.documents); err != nil {
		return found, err
	}
	found.forecast()
	return found, nil
}

// everything are the objects that decide about machines, of some namespaces.
func (l *live) everything(ctx context.Context, namespaces []string) ([]client.Object, error) {
	var all []client.Object
	roles, places := &api.NodeRoleList{}, &api.ClusterLocationList{}
	for _, list := range []client.ObjectList{roles, places} {
		if err := l.list(ctx, list); err != nil {
			return nil, err
		}
	}
	all = append(pointers(roles.Items), pointers(places.Items)...)
	for _, namespace := range namespaces {
		clusters, pools, own := &api.TalosClusterList{}, &api.NodePoolList{}, &api.LocationList{}
		for _, list := range []client.ObjectList{clusters, pools, own} {
			if err := l.list(ctx, list, client.InNamespace(namespace)); err != nil {
				return nil, err
			}
		}
		all = slices.Concat(all, pointers(clusters.Items), pointers(pools.Items), pointers(own.Items))
	}
	for _, object := range all {
		kind, err := l.GroupVersionKindFor(object)
		if err != nil {
			return nil, err
		}
		object.GetObjectKind().SetGroupVersionKind(kind)
		object.SetManagedFields(nil)
	}
	return all, nil
}

// pointers are objects of a list, each as one.
func pointers[T any, P interface {
	*T
	client.Object
}](items []T) []client.Object {
	var all []client.Object
	for at := range items {
		all = append(all, P(&items[at]))
	}
	return all
}

// overlay puts what is declared over what is there. A status is not declared: it stays.
func (f *foreseen) overlay(there []client.Object, documents []*load.Document) error {
	reader, err := load.NewReader()
	if err != nil {
		return err
	}
	old := map[string]client.Object{}
	for _, object := range there {
		f.before.put(object)
		f.after.put(object)
		old[keyOf(object.GetObjectKind().GroupVersionKind().Kind, object)] = object
	}
	for _, document := range documents {
		key := keyOf(document.Kind.Name, document.Object)
		f.declared.put(document.Object)
		if f.forbidden[key] = forbiddenIn(reader, old[key], document); len(f.forbidden[key]) == 0 {
			f.after.put(withStatus(document.Object, old[key]))
		}
	}
	return nil
}

// forbiddenIn is why the API server would not take a change of an object: then it stays as it is.
func forbiddenIn(reader *load.Reader, was client.Object, document *load.Document) []string {
	if was == nil {
		return nil
	}
	before, err := documentOf(reader, "there", was)
	if err != nil {
		return nil // what is there was let in by other rules, and is not to be answered for here
	}
	var all []string
	for _, problem := range load.Change(before, document) {
		all = append(all, strings.TrimPrefix(problem.Path+": "+problem.Text, ": "))
	}
	return all
}

// withStatus is a declared object with the status of the one that is there.
func withStatus(object any, was client.Object) any {
	switch object := object.(type) {
	case *api.NodePool:
		if was, is := was.(*api.NodePool); is {
			object.Status = was.Status
		}
	case *api.TalosCluster:
		if was, is := was.(*api.TalosCluster); is {
			object.Status = was.Status
		}
	}
	return object
}

// forecast foretells what happens to each pool: those that are declared, and others to which something happens.
func (f *foreseen) forecast() {
	for _, key := range f.after.names("NodePool") {
		after := f.after.pools[key]
		one := preview.For(f.before.state(f.before.pools[key]), f.after.state(after))
		one.Impossible = append(one.Impossible, f.forbidden[key]...)
		if _, declared := f.declared.pools[key]; declared || !one.IsEmpty() {
			f.pools = append(f.pools, one)
		}
	}
}
