// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"minos.dev/minos/api/load"
	"minos.dev/minos/api/nearest"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos"
	"minos.dev/minos/talos/image"
)

// References finds what is wrong between documents that are each valid: names that lead nowhere, things that do not fit
// together. The definitions cannot say this, because they see one object at a time.
func References(documents []*load.Document) ([]load.Problem, error) {
	all, problems := gather(documents)
	roles, err := talos.NewRoles(all.roles...)
	if err != nil {
		return nil, err
	}
	all.names = roles
	for _, document := range documents {
		switch object := document.Object.(type) {
		case *api.TalosCluster:
			if err := talos.Supports(object.Spec.TalosVersion, object.Spec.KubernetesVersion); err != nil {
				problems = append(problems, document.Problem("spec.talosVersion", err.Error()))
			}
		case *api.NodeRole:
			if _, err := roles.Chain(api.Name(object.Name)); err != nil {
				problems = append(problems, document.Problem("spec.extends", err.Error()))
			}
		case *api.NodePool:
			problems = append(problems, all.pool(document, object)...)
		}
	}
	return problems, nil
}

// declared is what a set of documents declares, by what refers to it.
type declared struct {
	clusters  map[string]*api.TalosCluster
	locations map[string]api.LocationSpec
	roles     []*api.NodeRole
	names     talos.Roles
}

// gather indexes documents, and finds objects that are declared twice.
func gather(documents []*load.Document) (*declared, []load.Problem) {
	all := &declared{clusters: map[string]*api.TalosCluster{}, locations: map[string]api.LocationSpec{}}
	seen := map[string]*load.Document{}
	var problems []load.Problem
	for _, document := range documents {
		object := document.Object
		id := key(document.Kind.Name, object.GetNamespace(), object.GetName())
		if first, ok := seen[id]; ok {
			text := fmt.Sprintf("%s %q is declared in %s:%d already: remove or rename one of them",
				document.Kind.Name, object.GetName(), first.File, first.LineOf("metadata.name"))
			problems = append(problems, document.Problem("metadata.name", text))
			continue
		}
		seen[id] = document
		switch object := object.(type) {
		case *api.TalosCluster:
			all.clusters[id] = object
		case *api.NodeRole:
			all.roles = append(all.roles, object)
		case *api.Location:
			all.locations[id] = object.Spec
		case *api.ClusterLocation:
			all.locations[id] = object.Spec
		}
	}
	return all, problems
}

// key names an object among all.
func key(kind, namespace, name string) string {
	return kind + "/" + namespace + "/" + name
}

// pool follows every reference of a pool.
func (all *declared) pool(document *load.Document, pool *api.NodePool) []load.Problem {
	var problems []load.Problem
	cluster, ok := all.clusters[key("TalosCluster", pool.Namespace, string(pool.Spec.ClusterName))]
	if !ok {
		text := fmt.Sprintf("there is no TalosCluster %q in namespace %q%s", pool.Spec.ClusterName, pool.Namespace,
			hint(string(pool.Spec.ClusterName), namesOf(all.clusters, key("TalosCluster", pool.Namespace, ""))))
		problems = append(problems, document.Problem("spec.clusterName", text))
	}
	problems = append(problems, all.location(document, pool)...)
	role, err := all.names.Resolve(pool.Spec.Role)
	if err != nil {
		return append(problems, document.Problem("spec.role", err.Error()))
	}
	if role.Spec.MachineType == api.MachineControlPlane && cluster != nil && cluster.Spec.ControlPlane.Talos == nil {
		text := fmt.Sprintf("role %q is for control planes on Talos machines, and cluster %q has another kind: choose a role for workers",
			pool.Spec.Role, pool.Spec.ClusterName)
		problems = append(problems, document.Problem("spec.role", text))
	}
	if cluster == nil {
		return problems
	}
	for _, err := range each(image.Check(role, cluster.Spec.TalosVersion, pool.Spec.Architecture)) {
		problems = append(problems, document.Problem("spec.role", err.Error()))
	}
	return problems
}

// each returns the errors that were joined into one.
func each(err error) []error {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// location checks that a pool's place exists and is of the kind that its machines are for.
func (all *declared) location(document *load.Document, pool *api.NodePool) []load.Problem {
	reference, namespace := pool.Spec.LocationRef, pool.Namespace
	if reference.Kind == api.KindClusterLocation {
		namespace = ""
	}
	spec, ok := all.locations[key(string(reference.Kind), namespace, string(reference.Name))]
	if !ok {
		text := fmt.Sprintf("there is no %s %q", reference.Kind, reference.Name)
		if namespace != "" {
			text += fmt.Sprintf(" in namespace %q", namespace)
		}
		return []load.Problem{document.Problem("spec.locationRef", text+hint(string(reference.Name), namesOf(all.locations, key(string(reference.Kind), namespace, ""))))}
	}
	if place, machine := spec.Member(), pool.Spec.Machine.Member(); place != machine {
		text := fmt.Sprintf("has %s and the place %q is of kind %s: they must be the same", machine, reference.Name, place)
		return []load.Problem{document.Problem("spec.machine", text)}
	}
	return nil
}

// hint offers the nearest name, or else says what to do.
func hint(name string, known []string) string {
	if nearest := nearest.Hint(name, known); nearest != "" {
		return nearest
	}
	return ": declare it, or correct the name"
}

// namesOf returns the names of the objects whose keys begin so: those of one kind in one namespace. They are sorted.
func namesOf[T any](objects map[string]T, prefix string) []string {
	var names []string
	for key := range objects {
		if name, ok := strings.CutPrefix(key, prefix); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
