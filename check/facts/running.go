// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
)

// A Running is what one machine says that it runs.
type Running struct {
	// Name is the name or the address by which it is known.
	Name string
	// Place is where it says so.
	Place Place
	// Cluster and Machine are what it is of; nil if that cannot be told.
	Cluster *Cluster
	Machine *Machine
	// Talos and Kubernetes are the versions of Talos and of the kubelet; empty if it does not say.
	Talos      api.TalosVersion
	Kubernetes api.KubernetesVersion
	// Schematic is the identity of its image; empty if it does not say.
	Schematic string
	// Node is its Node; nil if it was asked in another way.
	Node *Saved
}

// osImage is how a Node of Talos names its system.
var osImage = regexp.MustCompile(`^Talos \((v[0-9][^)]*)\)$`)

// Running is what machines say that they run: by their Nodes, by Talos, or by the status of a TalosMachine.
func (f *Facts) Running() []Running {
	found := f.statuses()
	if f.Live != nil {
		for _, node := range f.Live.Nodes {
			one := Running{
				Name: node.Name(), Place: node.At("status.nodeInfo"), Kubernetes: api.KubernetesVersion(node.String("status.nodeInfo.kubeletVersion")), Node: node,
				Schematic: node.schematic(),
			}
			if parts := osImage.FindStringSubmatch(node.String("status.nodeInfo.osImage")); parts != nil {
				one.Talos = api.TalosVersion(parts[1])
			}
			found = append(found, one)
		}
		for _, version := range f.Live.Resources[LiveVersions] {
			found = append(found, Running{Name: version.Node, Place: version.At("spec.version"), Talos: api.TalosVersion(version.String("spec.version"))})
		}
	}
	names := f.byName()
	for at := range found {
		f.assign(&found[at], names)
	}
	return found
}

// statuses are what the operator saw of machines.
func (f *Facts) statuses() []Running {
	var found []Running
	for _, document := range f.Documents {
		machine, ok := document.Object.(*api.TalosMachine)
		if !ok || machine.Status.TalosVersion == "" {
			continue
		}
		one := Running{
			Name: machine.Name, Place: Place{File: document.File, Line: document.LineOf("status.talosVersion"), Path: "status.talosVersion", Machine: machine.Name},
			Talos: api.TalosVersion(machine.Status.TalosVersion), Schematic: machine.Status.Schematic,
		}
		for _, cluster := range f.Clusters {
			if cluster.Name == string(machine.Spec.ClusterName) && cluster.Namespace == machine.Namespace {
				one.Cluster = cluster
			}
		}
		found = append(found, one)
	}
	return found
}

// byName are the machines by all names and addresses that are theirs alone.
func (f *Facts) byName() map[string]*Machine {
	found := map[string]*Machine{}
	for _, machine := range f.Machines {
		names := []string{machine.Name}
		if machine.Host != nil {
			names = append(names, string(machine.Host.Address))
		}
		if machine.Config != nil && machine.Config.NetworkHostnameConfig() != nil {
			names = append(names, machine.Config.NetworkHostnameConfig().Hostname())
		}
		for _, address := range machine.Addresses() {
			names = append(names, address.Addr().String())
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			if _, taken := found[name]; taken {
				found[name] = nil // two have it, so that it says nothing
				continue
			}
			found[name] = machine
		}
	}
	maps.DeleteFunc(found, func(name string, machine *Machine) bool { return name == "" || machine == nil })
	return found
}

// assign finds out whose a machine is: by its name; of machines that are made on demand, by the name of their pool, with which theirs
// begin; or, in a folder with one cluster, by there being no other.
func (f *Facts) assign(one *Running, names map[string]*Machine) {
	if one.Machine = names[one.Name]; one.Machine == nil {
		one.Machine = f.demanded(one)
	}
	switch {
	case one.Machine != nil:
		one.Cluster = one.Machine.Cluster
	case len(f.Clusters) == 1:
		one.Cluster = f.Clusters[0]
	}
	one.Place.Environment = f.environment()
	if one.Cluster != nil {
		one.Place.Cluster, one.Place.Environment = one.Cluster.Title(), one.Cluster.Environment
	}
}

// demanded is what machines of a pool get that are made on demand, by the name of one of them; nil if it could be of two pools.
func (f *Facts) demanded(one *Running) *Machine {
	var found []*Machine
	for _, pool := range f.Pools {
		begins := strings.HasPrefix(one.Name, pool.Object.Name+"-") || strings.HasPrefix(one.Name, pool.Cluster.Name+"-"+pool.Object.Name+"-")
		if begins && pool.Object.Spec.Machine.Metal == nil && len(pool.Machines) == 1 && (one.Cluster == nil || one.Cluster == pool.Cluster) {
			found = append(found, pool.Machines[0])
		}
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

// Asked are the machines by the names or addresses by which they were asked. Those of which it cannot be told which they are, are not
// among them.
func (f *Facts) Asked(names []string) map[string]*Machine {
	found := map[string]*Machine{}
	for name, one := range f.whose(names) {
		if one.Machine != nil {
			found[name] = one.Machine
		}
	}
	return found
}

// Owners are the clusters that machines are of, as [Facts.Asked] are the machines.
func (f *Facts) Owners(asked []string) map[string]*Cluster {
	found := map[string]*Cluster{}
	for name, one := range f.whose(asked) {
		if one.Cluster != nil {
			found[name] = one.Cluster
		}
	}
	return found
}

// whose is what is known of machines by the names or addresses by which they were asked. An address may be that of a Node.
func (f *Facts) whose(asked []string) map[string]Running {
	found, names := map[string]Running{}, f.byName()
	for _, name := range asked {
		one := Running{Name: name}
		if f.Live != nil && names[name] == nil {
			one.Name = f.Live.NameOf(name)
		}
		f.assign(&one, names)
		found[name] = one
	}
	return found
}

// Earlier is the declaration of a cluster in the state before; nil if none was given, or if the cluster is not in it.
func (f *Facts) Earlier(cluster *Cluster) *api.TalosCluster {
	for _, document := range f.Before {
		object, ok := document.Object.(*api.TalosCluster)
		if ok && object.Name == cluster.Name && cmp.Or(object.Namespace, "default") == cmp.Or(cluster.Namespace, "default") {
			return object
		}
	}
	return nil
}

// KubernetesVersion is the version of Kubernetes that it should have; empty if nobody says.
func (c *Cluster) KubernetesVersion() api.KubernetesVersion {
	if c.Object != nil {
		return c.Object.Spec.KubernetesVersion
	}
	for _, machine := range c.Machines {
		if machine.KubernetesVersion != "" {
			return machine.KubernetesVersion
		}
	}
	return ""
}
