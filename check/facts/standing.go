// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"cmp"
	"fmt"
	"slices"

	"minos.dev/minos/api/nearest"
	api "minos.dev/minos/api/v1alpha1"
)

// configInForce is the name of the configuration by which a machine runs.
const configInForce = "v1alpha1"

// AsRunning are facts about one cluster whose machines are those that run, in place of those that should: each with the
// configuration, the extensions and the versions that it showed. What is declared says what each is for, where one of the declared
// clusters is the one that runs; a name says which, where it cannot be told.
func (f *Facts) AsRunning(name string) (*Facts, error) {
	declared, err := f.heard(name)
	if err != nil {
		return nil, err
	}
	made := *f
	made.Pools, made.Machines = nil, nil
	s := &standing{from: f, made: &made, cluster: &Cluster{Running: true, Environment: f.environment(), Notes: f.Settings.Notes}, known: f.byName()}
	if declared != nil {
		*s.cluster = *declared
		s.cluster.Pools, s.cluster.Machines, s.cluster.Running = nil, nil, true
		s.declare(declared)
	}
	made.Clusters = []*Cluster{s.cluster}
	for _, one := range f.runs() {
		s.add(one)
	}
	if declared == nil {
		s.cluster.Name = cmp.Or(s.ownName(), "unnamed")
	}
	return &made, nil
}

// heard is the declared cluster that runs: the only one, the one that is named, or the one that the names of machines point to. Nil
// if it cannot be told.
func (f *Facts) heard(name string) (*Cluster, error) {
	var names []string
	for _, cluster := range f.Clusters {
		if name != "" && (cluster.Title() == name || cluster.Name == name) {
			return cluster, nil
		}
		names = append(names, cluster.Title())
	}
	if name != "" {
		return nil, fmt.Errorf("there is no cluster %q in the folder%s", name, nearest.Hint(name, names))
	}
	if len(f.Clusters) == 1 {
		return f.Clusters[0], nil
	}
	var found *Cluster
	known := f.byName()
	for _, one := range f.runs() {
		if f.assign(&one, known); one.Cluster == nil || one.Cluster == found {
			continue
		}
		if found != nil {
			return nil, nil // two could be meant
		}
		found = one.Cluster
	}
	return found, nil
}

// runs are the machines that run: the Nodes, and machines that Talos was asked of and that are none.
func (f *Facts) runs() []Running {
	var found []Running
	seen := map[string]bool{}
	for _, one := range f.Running() {
		if one.Node != nil {
			seen[one.Name] = true
			found = append(found, one)
		}
	}
	for _, reading := range f.Live.Readings {
		if name := f.Live.NameOf(reading.Node); name != "" && !seen[name] {
			seen[name] = true
			found = append(found, Running{Name: name, Place: Place{Machine: name}})
		}
	}
	return found
}

// A standing makes machines of what runs.
type standing struct {
	from, made *Facts
	cluster    *Cluster
	known      map[string]*Machine // the declared ones, by their names and addresses
	pools      map[*Pool]*Pool

	// What machines showed, by their names.
	configs, images, versions map[string][]*Saved
}

// declare takes over the pools of the declared cluster, without machines.
func (s *standing) declare(declared *Cluster) {
	s.pools = map[*Pool]*Pool{}
	for _, pool := range declared.Pools {
		own := *pool
		own.Cluster, own.Machines, own.Refused = s.cluster, nil, nil
		s.pools[pool] = &own
		s.cluster.Pools = append(s.cluster.Pools, &own)
		s.made.Pools = append(s.made.Pools, &own)
	}
}

// add makes a machine of what runs.
func (s *standing) add(one Running) {
	if s.configs == nil {
		live := s.from.Live
		s.configs, s.images, s.versions = live.Of(LiveMachineConfigs), live.Of(LiveExtensionStatuses), live.Of(LiveVersions)
	}
	machine := &Machine{Name: one.Name, Count: 1, Cluster: s.cluster, Notes: s.from.Settings.Notes, Running: &one}
	if one.Node != nil {
		machine.File = one.Node.File.Path
		machine.Architecture = api.Architecture(one.Node.String("status.nodeInfo.architecture"))
		machine.ControlPlane = slices.Contains(one.Node.roles(), "control-plane")
	}
	machine.TalosVersion, machine.KubernetesVersion = one.Talos, one.Kubernetes
	for _, version := range s.versions[one.Name] {
		machine.TalosVersion = cmp.Or(machine.TalosVersion, api.TalosVersion(version.String("spec.version")))
	}
	s.configure(machine)
	s.image(machine)
	if pool := s.poolOf(one); pool != nil {
		machine.Pool, machine.Notes = pool, pool.Notes
		pool.Machines = append(pool.Machines, machine)
	}
	s.cluster.Machines = append(s.cluster.Machines, machine)
	s.made.Machines = append(s.made.Machines, machine)
}

// configure gives a machine the configuration that it showed; none if it could not be read.
func (s *standing) configure(machine *Machine) {
	for _, saved := range s.configs[machine.Name] {
		if text := saved.String("spec"); saved.Name() == configInForce && text != "" {
			machine.Text, machine.File = []byte(text), cmp.Or(machine.File, saved.File.Path)
			machine.load()
		}
	}
	if machine.Config != nil && machine.Config.Machine() != nil {
		machine.ControlPlane = machine.Config.Machine().Type().IsControlPlane()
	}
}

// image gives a machine the extensions that it showed: by Talos, or by the marks of its Node, which Talos sets from 1.8 on.
func (s *standing) image(machine *Machine) {
	for _, saved := range s.images[machine.Name] {
		if name := saved.String("spec.metadata.name"); !slices.Contains(unreal, name) {
			machine.Extensions = append(machine.Extensions, name)
		}
		machine.ExtensionsKnown = true
	}
	asked := func(reading Reading) bool {
		return s.from.Live.NameOf(reading.Node) == machine.Name && slices.Contains(reading.Read, LiveExtensionStatuses)
	}
	if machine.ExtensionsKnown = machine.ExtensionsKnown || slices.ContainsFunc(s.from.Live.Readings, asked); machine.ExtensionsKnown {
		slices.Sort(machine.Extensions)
		return
	}
	if machine.Running.Node != nil {
		schematic, names := machine.Running.Node.ImageMarks()
		machine.Extensions, machine.ExtensionsKnown = names, schematic != "" || len(names) > 0 || machine.Since("1.8")
	}
}

// poolOf is the declared pool that a machine is of, by its name or an address; nil if that cannot be told.
func (s *standing) poolOf(one Running) *Pool {
	names := []string{one.Name}
	if one.Node != nil {
		names = append(names, one.Node.Addresses()...)
	}
	for _, name := range names {
		other := Running{Name: name, Cluster: one.Cluster}
		if s.from.assign(&other, s.known); other.Machine != nil && other.Machine.Pool != nil {
			return s.pools[other.Machine.Pool]
		}
	}
	return nil
}

// ownName is the name that the configurations of machines give their cluster; empty if none could be read.
func (s *standing) ownName() string {
	for _, machine := range s.cluster.Machines {
		if machine.Config != nil && machine.Config.K8sClusterConfig() != nil && machine.Config.K8sClusterConfig().ClusterName() != "" {
			return machine.Config.K8sClusterConfig().ClusterName()
		}
	}
	return ""
}
