// SPDX-License-Identifier: Apache-2.0

package declarations

import (
	"errors"
	"fmt"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos"
	"minos.dev/minos/talos/fleet"
	"minos.dev/minos/talos/image"
)

// References finds what is wrong between documents that are each valid: names that lead nowhere, things that do not fit
// together. The definitions cannot say this, because they see one object at a time.
func References(documents []*load.Document) ([]load.Problem, error) {
	objects, problems := twice(documents)
	all, err := fleet.New(objects)
	if err != nil {
		return nil, err
	}
	met := &hosts{names: map[string]string{}, addresses: map[string]string{}}
	for _, document := range documents {
		switch object := document.Object.(type) {
		case *api.TalosCluster:
			problems = append(problems, checkCluster(document, object)...)
			if err := talos.Supports(object.Spec.TalosVersion, object.Spec.KubernetesVersion); err != nil {
				problems = append(problems, document.Problem("spec.talosVersion", err.Error()))
			}
		case *api.NodeRole:
			if _, err := all.Chain(api.Name(object.Name)); err != nil {
				problems = append(problems, document.Problem("spec.extends", err.Error()))
			}
		case *api.NodePool:
			problems = append(problems, checkPool(all, met, document, object)...)
		}
	}
	return problems, nil
}

// twice finds objects that are declared twice, and returns the rest.
func twice(documents []*load.Document) ([]load.Object, []load.Problem) {
	seen := map[string]*load.Document{}
	var objects []load.Object
	var problems []load.Problem
	for _, document := range documents {
		object := document.Object
		id := document.Kind.Name + "/" + object.GetNamespace() + "/" + object.GetName()
		if first, ok := seen[id]; ok {
			text := fmt.Sprintf("%s %q is declared in %s:%d already: remove or rename one of them",
				document.Kind.Name, object.GetName(), first.File, first.LineOf("metadata.name"))
			problems = append(problems, document.Problem("metadata.name", text))
			continue
		}
		seen[id] = document
		objects = append(objects, object)
	}
	return objects, problems
}

// checkPool follows every reference of a pool.
func checkPool(all *fleet.Fleet, met *hosts, document *load.Document, pool *api.NodePool) []load.Problem {
	var problems []load.Problem
	cluster, err := all.Cluster(pool)
	if err != nil {
		problems = append(problems, document.Problem("spec.clusterName", err.Error()))
	}
	location, err := all.Location(pool)
	switch place, machine := location.Member(), pool.Spec.Machine.Member(); {
	case err != nil:
		problems = append(problems, document.Problem("spec.locationRef", err.Error()))
	case place != machine:
		text := fmt.Sprintf("has %s and the place %q is of kind %s: they must be the same", machine, pool.Spec.LocationRef.Name, place)
		problems = append(problems, document.Problem("spec.machine", text))
	}
	role, err := all.Role(pool)
	if err != nil {
		return append(problems, document.Problem("spec.role", err.Error()))
	}
	if cluster == nil {
		return problems
	}
	if role.Spec.MachineType == api.MachineControlPlane && cluster.Spec.ControlPlane.Talos == nil {
		text := fmt.Sprintf("role %q is for control planes on Talos machines, and cluster %q has another kind: choose a role for workers",
			pool.Spec.Role, pool.Spec.ClusterName)
		problems = append(problems, document.Problem("spec.role", text))
	}
	for _, err := range each(image.Check(role, cluster.Spec.TalosVersion, pool.Spec.Architecture)) {
		problems = append(problems, document.Problem("spec.role", err.Error()))
	}
	return append(problems, met.check(document, pool, cluster)...)
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
