// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"fmt"
	"reflect"
	"slices"

	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"

	"minos.dev/minos/adopt/patch"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/config"
)

// A plan is our objects in the making.
type plan struct {
	source   *Source
	contract *talosconfig.VersionContract
	facts    *facts
	pools    []*pool
	steps    []Step // what all machines share
	images   *api.Images
	cni      *api.CNI
	network  *api.PlaceNetwork
	from     origins
	dropped  []patch.Document
	values   map[api.SecretKeyReference]string // secrets of services
	left     []Remark
	notes    []Remark
}

// origins are where fields come from, by their names.
type origins map[string][]string

func (o origins) add(field, from string) {
	if !slices.Contains(o[field], from) {
		o[field] = append(o[field], from)
	}
}

// newPlan arranges a source into our objects.
func newPlan(source *Source, options Options) (*plan, error) {
	contract, err := config.Contract(source.Talos)
	if err != nil {
		return nil, err
	}
	p := &plan{source: source, contract: contract, from: origins{}, values: map[api.SecretKeyReference]string{}, left: slices.Clone(source.Left), notes: slices.Clone(source.Notes)}
	if p.facts, err = factsOf(first(source.Machines)); err != nil {
		return nil, err
	}
	p.reveal()
	known, err := newRoles(source)
	if err != nil {
		return nil, err
	}
	p.pools = poolsOf(source, known)
	nameHosts(p.pools)
	p.images = imagesOf(source.Machines)
	clean := newCleaner(p.source, p.contract, options.Plaintext)
	p.cleanSteps(clean)
	p.narrow()
	p.raise()
	p.liftCluster()
	p.liftControlPlane()
	for _, one := range p.pools {
		one.liftPool(contract)
		one.liftServices(p.source.Hidden, p.values)
	}
	p.dropHidden(clean)
	return p, p.chooseRoles(known)
}

// reveal takes from what was encrypted those values that every object of ours shows: names, networks and addresses.
func (p *plan) reveal() {
	shown := append([]string{p.facts.name, p.facts.domain, p.facts.endpoint.Hostname(), p.facts.endpoint.String()}, p.facts.pods...)
	shown = append(shown, p.facts.services...)
	for _, machine := range p.source.Machines {
		shown = append(shown, machine.Name, machine.Address)
	}
	source := *p.source
	source.Hidden = nil
	for _, value := range p.source.Hidden {
		if slices.Contains(shown, value) {
			p.notes = append(p.notes, Remark{Origin: Origin{File: fileCluster}, Text: fmt.Sprintf("%q was encrypted and is readable now: names, networks and addresses have to be", value)})
			continue
		}
		source.Hidden = append(source.Hidden, value)
	}
	p.source = &source
}

// first is the machine that the facts of the cluster are read from.
func first(machines []*Machine) *Machine {
	for _, machine := range machines {
		if machine.ControlPlane {
			return machine
		}
	}
	return machines[0]
}

// cleanSteps decides on the disks of hosts and takes out of the steps what is not for patches.
func (p *plan) cleanSteps(clean *cleaner) {
	for _, pool := range p.pools {
		for _, host := range pool.hosts {
			disk, note := diskOf(host.machine)
			if host.disk, host.comment = disk, note.short; note.full != "" {
				p.notes = append(p.notes, Remark{Origin: host.machine.Origin, Text: note.full})
			}
			host.steps = clean.clean(host.machine.Steps)
		}
	}
}

// dropHidden leaves behind what must not be readable and found no place that is not.
func (p *plan) dropHidden(clean *cleaner) {
	p.steps = clean.dropHidden(p.steps)
	for _, pool := range p.pools {
		pool.steps = clean.dropHidden(pool.steps)
		for _, host := range pool.hosts {
			host.steps = clean.dropHidden(host.steps)
		}
	}
	p.left, p.notes = append(p.left, clean.left...), append(p.notes, clean.notes...)
	p.dropped = clean.dropped
}

// narrow takes a template that gave something else for another machine as said of the one machine.
func (p *plan) narrow() {
	gave := map[Origin]string{}
	differs := map[Origin]bool{}
	for _, list := range p.hostLists() {
		for _, step := range *list {
			if before, seen := gave[step.Origin]; seen && before != content(step) {
				differs[step.Origin] = true
			}
			gave[step.Origin] = content(step)
		}
	}
	for _, list := range p.hostLists() {
		for i, step := range *list {
			if step.Rendered && differs[step.Origin] {
				(*list)[i].Scope = ScopeMachine
			}
		}
	}
}

// hostLists are the steps of all hosts.
func (p *plan) hostLists() []*[]Step {
	var all []*[]Step
	for _, pool := range p.pools {
		all = append(all, pool.lists()...)
	}
	return all
}

// raise moves steps up: from hosts to their pool, from pools to the cluster. Of one host alone, and of one pool alone,
// everything is shared; there it counts of how many machines it was said.
func (p *plan) raise() {
	all := p.hostLists()
	atLeast := ScopeMachine
	if len(p.pools) == 1 {
		atLeast = ScopeCluster
	}
	p.steps = hoist(all, func(step Step) bool { return step.Scope >= atLeast })
	for _, pool := range p.pools {
		atLeast := ScopeMachine
		if len(pool.hosts) == 1 {
			atLeast = ScopeGroup
		}
		pool.steps = hoist(pool.lists(), func(step Step) bool { return step.Scope >= atLeast || fits(step) })
	}
}

// lists are the steps of all hosts.
func (p *pool) lists() []*[]Step {
	var all []*[]Step
	for _, host := range p.hosts {
		all = append(all, &host.steps)
	}
	return all
}

// liftControlPlane turns into fields of the cluster what the pools of the control plane say and no other does, and into
// fields of the location what the only pool says.
func (p *plan) liftControlPlane() {
	if len(p.pools) == 1 {
		p.pools[0].steps = lift(p.pools[0].steps, p.liftNetwork)
	}
	for _, pool := range p.pools {
		if pool.controlPlane && p.facts.workloads {
			pool.steps = lift(pool.steps, func(fields patch.Document, _ Step) {
				patch.Without(fields, []string{"cluster", "allowSchedulingOnControlPlanes"})
			})
		}
	}
	if p.cni == nil {
		p.liftPlaneCNI()
	}
}

// liftPlaneCNI turns the choice of a pod network that every pool of the control plane makes. Should one not make it, the
// comparison notices and gives back what was taken from the others.
func (p *plan) liftPlaneCNI() {
	for _, pool := range p.pools {
		if !pool.controlPlane {
			continue
		}
		found := false
		pool.steps = lift(pool.steps, func(fields patch.Document, step Step) {
			if cni := cniOf(fields); cni != nil && (p.cni == nil || reflect.DeepEqual(p.cni, cni)) {
				p.cni, found = cni, true
				p.from.add("cni", step.comment())
				takeCNI(fields)
			}
		})
		if !found {
			return
		}
	}
}
