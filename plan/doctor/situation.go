// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"minos.dev/minos/api/nearest"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/names"
)

// A situation is what advice is filled in with. What is not known is a word in capitals, as usage lines have it.
type situation struct {
	namespace string
	cluster   *api.TalosCluster // nil if it is not there
	name      string            // of the cluster
	pool      *api.NodePool
	location  api.LocationReference
	limits    string // of the location, in words
	clusters  []string
	address   string // of a machine
	node      string
}

// ofCluster fills in a cluster.
func (s *situation) ofCluster(cluster *api.TalosCluster) {
	s.namespace, s.name, s.cluster = cluster.Namespace, cluster.Name, cluster
}

// ofMachine fills in a machine.
func (s *situation) ofMachine(machine *api.TalosMachine) {
	if len(machine.Status.Addresses) > 0 {
		s.address = string(machine.Status.Addresses[0])
	}
	s.node = cmp.Or(machine.Status.NodeName, machine.Name)
}

// situationOf is that of a pool.
func (e examination) situationOf(pool *api.NodePool) situation {
	at := situation{namespace: pool.Namespace, name: string(pool.Spec.ClusterName), pool: pool, location: pool.Spec.LocationRef}
	known := slices.Concat(e.seen.Clusters, e.seen.known)
	for i := range known {
		cluster := &known[i]
		if cluster.Namespace != pool.Namespace {
			continue
		}
		at.clusters = append(at.clusters, cluster.Name)
		if cluster.Name == at.name {
			at.cluster = cluster
		}
	}
	if place, ok := e.place(pool); ok {
		at.limits = limits(place.Place().Limits)
	}
	return at
}

// place finds the location of a pool.
func (e examination) place(pool *api.NodePool) (api.LocationSpec, bool) {
	reference := pool.Spec.LocationRef
	if reference.Kind == api.KindClusterLocation {
		for _, place := range e.seen.ClusterLocations {
			if place.Name == string(reference.Name) {
				return place.Spec, true
			}
		}
		return api.LocationSpec{}, false
	}
	for _, place := range e.seen.Locations {
		if place.Name == string(reference.Name) && place.Namespace == pool.Namespace {
			return place.Spec, true
		}
	}
	return api.LocationSpec{}, false
}

// limits are those of a place in words.
func limits(l *api.PlaceLimits) string {
	if l == nil {
		return ""
	}
	var parts []string
	if l.Machines != nil {
		parts = append(parts, plural(int(*l.Machines), "machine")+" in all")
	}
	if l.MachinesPerNamespace != nil {
		parts = append(parts, fmt.Sprintf("%d a namespace", *l.MachinesPerNamespace))
	}
	if len(l.InstanceTypes) > 0 {
		parts = append(parts, "instance types "+strings.Join(l.InstanceTypes, ", "))
	}
	return strings.Join(parts, "; ")
}

// endpoint is the host by which machines reach the cluster.
func (s situation) endpoint() string {
	switch {
	case s.cluster != nil && s.cluster.Status.Endpoint != nil:
		return s.cluster.Status.Endpoint.Host
	case s.cluster != nil && s.cluster.Spec.Endpoint != nil:
		return s.cluster.Spec.Endpoint.Host
	}
	return "ENDPOINT"
}

// machine is the address of a machine.
func (s situation) machine() string { return cmp.Or(s.address, "ADDRESS") }

// kubectl is a command about the management cluster.
func (s situation) kubectl(format string, args ...any) string {
	return strings.TrimSuffix("kubectl -n "+s.namespace+" "+fmt.Sprintf(format, args...), " ")
}

// tenant is a command about the tenant's own cluster.
func (s situation) tenant(format string, args ...any) string {
	return "kubectl --kubeconfig " + s.name + ".kubeconfig " + fmt.Sprintf(format, args...)
}

// talosctl is a command about a machine.
func (s situation) talosctl(command string) string {
	return fmt.Sprintf("talosctl --talosconfig %s.talosconfig -n %s %s", s.name, s.machine(), command)
}

// near is the cluster that was probably meant.
func (s situation) near() string { return nearest.Hint(s.name, s.clusters) }

// join is the Secret with the pool's tokens.
func (s situation) join() string {
	if s.pool == nil {
		return "POOL-join"
	}
	return names.Join(s.pool)
}
