// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"cmp"
	"slices"
	"strings"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/fleet"
	"minos.dev/minos/talos/image"
)

// declared makes clusters, pools and machines of the declarations.
func (r *reader) declared() error {
	var objects []load.Object
	for _, document := range r.facts.Documents {
		objects = append(objects, document.Object)
	}
	all, err := fleet.New(objects)
	if err != nil {
		return err
	}
	r.facts.Fleet = all
	clusters := map[*api.TalosCluster]*Cluster{}
	for _, document := range r.facts.Documents {
		if object, ok := document.Object.(*api.TalosCluster); ok {
			cluster := &Cluster{
				Name: object.Name, Namespace: object.Namespace, Object: object, Document: document, Environment: object.Spec.Environment,
				Notes: merged(r.facts.Settings.Notes, notesIn(object.Annotations)),
			}
			clusters[object] = cluster
			r.facts.Clusters = append(r.facts.Clusters, cluster)
		}
	}
	for _, document := range r.facts.Documents {
		if object, ok := document.Object.(*api.NodePool); ok {
			r.pool(clusters, document, object)
		}
	}
	return nil
}

// pool makes facts of a declared pool. One that leads nowhere is a problem that is said elsewhere.
func (r *reader) pool(clusters map[*api.TalosCluster]*Cluster, document *load.Document, object *api.NodePool) {
	named, err := r.facts.Fleet.Cluster(object)
	cluster := clusters[named]
	if err != nil || cluster == nil {
		return
	}
	role, err := r.facts.Fleet.Role(object)
	if err != nil {
		return
	}
	location, err := r.facts.Fleet.Location(object)
	if err != nil {
		return
	}
	pool := &Pool{Object: object, Document: document, Cluster: cluster, Role: role, Location: location}
	pool.Notes = merged(cluster.Notes, r.notesOf(object.Spec.LocationRef), notesIn(role.Annotations), notesIn(object.Annotations))
	pool.Schematic = schematicOf(role, cluster.Object.Spec.TalosVersion, pool.At("spec.role"))
	pool.Schematic.pool = pool
	r.facts.Schematics = append(r.facts.Schematics, pool.Schematic)
	r.facts.Pools = append(r.facts.Pools, pool)
	cluster.Pools = append(cluster.Pools, pool)
	rendered, err := r.facts.Fleet.Rehearse(object)
	if err != nil {
		pool.Refused = err
		return
	}
	for at, one := range rendered {
		r.rendered(pool, at, one)
	}
}

// notesOf are the notes of a place.
func (r *reader) notesOf(reference api.LocationReference) map[Note]string {
	for _, document := range r.facts.Documents {
		if document.Kind.Name == string(reference.Kind) && document.Object.GetName() == string(reference.Name) {
			return notesIn(document.Object.GetAnnotations())
		}
	}
	return nil
}

// rendered makes a machine of a configuration that was made from a declaration.
func (r *reader) rendered(pool *Pool, at int, one fleet.Machine) {
	spec := pool.Cluster.Object.Spec
	machine := &Machine{
		Name: one.Name, Count: replicas(pool.Object), Cluster: pool.Cluster, Pool: pool, ControlPlane: pool.Role.Spec.MachineType == api.MachineControlPlane,
		Platform: image.PlatformOf(pool.Object.Spec.Machine.Member()), Architecture: pool.Object.Spec.Architecture, TalosVersion: spec.TalosVersion,
		KubernetesVersion: spec.KubernetesVersion, Extensions: slices.Sorted(slices.Values(pool.Schematic.Extensions())), ExtensionsKnown: pool.Schematic.Error == nil,
		Notes: pool.Notes, File: pool.Document.File, Text: one.Config, Rendered: true,
	}
	if metal := pool.Object.Spec.Machine.Metal; metal != nil {
		machine.Host, machine.Count = &metal.Hosts[at], 1
	}
	machine.load()
	pool.Machines = append(pool.Machines, machine)
	pool.Cluster.Machines = append(pool.Cluster.Machines, machine)
	r.facts.Machines = append(r.facts.Machines, machine)
}

// replicas is how many machines a pool is to have; of one that is scaled by itself, as many as it may have.
func replicas(pool *api.NodePool) int {
	if scaling := pool.Spec.Autoscaling; scaling != nil && scaling.Max != nil {
		return int(*scaling.Max)
	}
	if pool.Spec.Replicas != nil {
		return int(*pool.Spec.Replicas)
	}
	return 1
}

// found makes machines of configurations that were found as files.
func (r *reader) found() {
	copies := r.newCopies()
	for _, file := range r.configs {
		if copies.rendered(file.Path) {
			continue
		}
		machine := &Machine{
			Name: strings.TrimSuffix(file.Base(), file.Extension()), Count: 1, Notes: r.facts.Settings.Notes, File: file.Path, Documents: file.Documents, Text: file.Text,
			TalosVersion: r.facts.Settings.TalosVersion, KubernetesVersion: r.facts.Settings.KubernetesVersion,
		}
		machine.load()
		machine.recognise(r.facts.Schematics)
		cluster := r.clusterOf(machine)
		if copies.declared[cluster][machine.Name] {
			continue
		}
		machine.Cluster = cluster
		cluster.Machines = append(cluster.Machines, machine)
		r.facts.Machines = append(r.facts.Machines, machine)
	}
}

// clusterOf is the cluster that a configuration speaks of, declared or not.
func (r *reader) clusterOf(machine *Machine) *Cluster {
	name := "unnamed"
	for _, document := range machine.Documents { // also of a configuration that Talos does not read
		name = cmp.Or(document.String("cluster.clusterName"), name)
	}
	if machine.Config != nil && machine.Config.K8sClusterConfig() != nil {
		name = cmp.Or(machine.Config.K8sClusterConfig().ClusterName(), name)
	}
	for _, cluster := range r.facts.Clusters {
		if cluster.Name == name {
			return cluster
		}
	}
	cluster := &Cluster{Name: name, Environment: cmp.Or(r.facts.Settings.Environment, api.EnvironmentProduction), Notes: r.facts.Settings.Notes}
	r.facts.Clusters = append(r.facts.Clusters, cluster)
	return cluster
}

// connect completes what needs the whole: places of what was read before the clusters were known.
func (r *reader) connect() {
	if r.facts.Live != nil {
		r.facts.Live.name()
	}
	for _, schematic := range r.facts.Schematics {
		if schematic.Role == nil {
			schematic.Place.Environment = r.facts.environment()
		}
	}
	for at := range r.facts.Leaks {
		r.facts.Leaks[at].Environment = r.facts.environment()
	}
	for at := range r.facts.PastLeaks {
		r.facts.PastLeaks[at].Environment = r.facts.environment()
	}
}
