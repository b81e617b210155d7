// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"maps"
	"slices"
	"strings"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/config"
)

// A Cluster is one that is declared, or one that machine configurations speak of.
type Cluster struct {
	// Name and Namespace are its own. A cluster that is not declared has no namespace.
	Name, Namespace string
	// Object is its declaration, and Document where that stands; nil if it has none.
	Object   *api.TalosCluster
	Document *load.Document
	// Environment is what it is for.
	Environment api.Environment
	// Notes are what people declare about it.
	Notes map[Note]string
	// Pools are its declared pools, and Machines its machines.
	Pools    []*Pool
	Machines []*Machine
	// Running says that its machines are those that run, and not those that should.
	Running bool
}

// Title tells one cluster from another.
func (c *Cluster) Title() string {
	if c.Namespace == "" || c.Namespace == "default" {
		return c.Name
	}
	return c.Namespace + "/" + c.Name
}

// At is a field of its declaration as a place; the cluster itself, if it has none.
func (c *Cluster) At(path string) Place {
	place := Place{Cluster: c.Title(), Environment: c.Environment, Path: path}
	if c.Document != nil {
		place.File, place.Line = c.Document.File, c.Document.LineOf(path)
	} else if len(c.Machines) > 0 {
		place.File, place.Path = c.Machines[0].File, ""
	}
	return place
}

// Production says whether people rely on it.
func (c *Cluster) Production() bool { return c.Environment == api.EnvironmentProduction }

// Decision is what was decided about a line of the checklist.
func (c *Cluster) Decision(about api.DecisionAbout) (api.Decision, bool) {
	if c.Object != nil {
		for _, decision := range c.Object.Spec.Decisions {
			if decision.About == about {
				return decision, true
			}
		}
	}
	return api.Decision{}, false
}

// Decided says whether the answer to a line of the checklist holds one of some words.
func (c *Cluster) Decided(about api.DecisionAbout, words ...string) bool {
	decision, ok := c.Decision(about)
	for _, word := range words {
		if ok && strings.Contains(strings.ToLower(decision.Answer), strings.ToLower(word)) {
			return true
		}
	}
	return false
}

// HasBackup says whether somebody declared how its etcd is backed up, and did not declare that it is not.
func (c *Cluster) HasBackup() bool {
	if c.Notes[NoteBackup] != "" {
		return true
	}
	decision, ok := c.Decision(api.DecisionBackup)
	return ok && !strings.EqualFold(decision.Answer, "none")
}

// ControlPlanes are the machines that run its control plane, and Workers the others.
func (c *Cluster) ControlPlanes() []*Machine { return c.machines(true) }

// Workers are the machines that do not run its control plane.
func (c *Cluster) Workers() []*Machine { return c.machines(false) }

// machines are those of one kind.
func (c *Cluster) machines(planes bool) []*Machine {
	var found []*Machine
	for _, machine := range c.Machines {
		if machine.ControlPlane == planes {
			found = append(found, machine)
		}
	}
	return found
}

// Count is how many machines some facts stand for.
func Count(machines []*Machine) int {
	count := 0
	for _, machine := range machines {
		count += machine.Count
	}
	return count
}

// OnTalos says whether its control plane runs on Talos machines, which is not so for a hosted one.
func (c *Cluster) OnTalos() bool { return c.Object == nil || c.Object.Spec.ControlPlane.Talos != nil }

// Network is its networks: as declared, or as its machines have it.
func (c *Cluster) Network() api.ClusterNetwork {
	if c.Object != nil {
		return config.Network(c.Object)
	}
	for _, machine := range c.Machines {
		if network, ok := machine.network(); ok {
			return network
		}
	}
	return config.DefaultNetwork()
}

// TalosVersion is the version of Talos that it should have; empty if nobody says.
func (c *Cluster) TalosVersion() api.TalosVersion {
	if c.Object != nil {
		return c.Object.Spec.TalosVersion
	}
	if c.Running {
		return "" // what runs does not say what should
	}
	for _, machine := range c.Machines {
		if machine.TalosVersion != "" {
			return machine.TalosVersion
		}
	}
	return ""
}

// A Pool is a declared pool with what its declaration leads to.
type Pool struct {
	// Object is its declaration, and Document where that stands.
	Object   *api.NodePool
	Document *load.Document
	// Cluster, Role and Location are what it names. Role has everything that it extends folded in. All are there: a pool that
	// leads nowhere is a problem of its own, and not among the facts.
	Cluster  *Cluster
	Role     *api.NodeRole
	Location api.LocationSpec
	// Notes are what people declare about it, its role, its place and its cluster; the nearest wins.
	Notes map[Note]string
	// Schematic is what its image is made from.
	Schematic *SchematicFact
	// Machines are its machines.
	Machines []*Machine
	// Refused says why no configuration could be made of the declaration; nil if one could.
	Refused error
}

// At is a field of its declaration as a place.
func (p *Pool) At(path string) Place {
	return Place{
		Cluster: p.Cluster.Title(), Machine: p.Object.Name, Environment: p.Cluster.Environment, File: p.Document.File, Line: p.Document.LineOf(path), Path: path,
	}
}

// Gateways says whether its machines are gateways: those of a role with the VPN, of which a cluster has one, or several that stand in
// for each other.
func (p *Pool) Gateways() bool {
	many := p.Role.Spec.PerCluster
	return many != api.PerClusterAny && many != "" && slices.Contains(p.Schematic.Extensions(), vpn)
}

// Wanted is how many machines it is to have at least.
func (p *Pool) Wanted() int {
	switch spec := p.Object.Spec; {
	case spec.Machine.Metal != nil:
		return len(spec.Machine.Metal.Hosts)
	case spec.Replicas != nil:
		return int(*spec.Replicas)
	case spec.Autoscaling != nil && spec.Autoscaling.Min != nil:
		return int(*spec.Autoscaling.Min)
	}
	return 1
}

// merged are notes of several objects; the last wins.
func merged(all ...map[Note]string) map[Note]string {
	found := map[Note]string{}
	for _, notes := range all {
		maps.Copy(found, notes)
	}
	return found
}
