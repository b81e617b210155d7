// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"minos.dev/minos/api/nearest"
	api "minos.dev/minos/api/v1alpha1"
)

// poolOptions are the usual fields of a pool.
type poolOptions struct {
	cluster, role, location string
	replicas, least, most   int32
	instanceType            string
	cpu, memory, disk       string
	counted, bounded, sized bool // whether flags gave a number, bounds, an amount
}

// newPoolCreate returns the command that makes a pool.
func newPoolCreate() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make a pool of machines in a management cluster",
		Long: `Makes a NodePool in a management cluster, where the operator makes its machines.
It has the usual fields as flags: for all others, print it with --dry-run, edit
it and apply it with kubectl. What a machine can be sized by is the location's
kind of place: kubevirt takes an instance type or cpu and memory, and a disk.
The hosts of a metal pool are listed in its YAML.

With --dry-run, nothing is made: the object is held to all rules, those of the
management cluster too, and printed.`,
		Example: `minos pool create workers --cluster shop --role compute --location hall
minos pool create burst --cluster shop --role plain --location hall --max 9`,
	}
	options, access := poolCreateFlags(cmd), accessFlags(cmd)
	wait, dryRun := waitFlags(cmd), dryRunFlag(cmd, "print what would be made, and make nothing")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := options.check(cmd); err != nil {
			return err
		}
		l, err := access.connect(cmd)
		if err != nil {
			return err
		}
		pool, err := options.pool(cmd.Context(), l, args[0])
		if err != nil {
			return err
		}
		if err := l.checkPool(cmd, pool); err != nil {
			return err
		}
		if err := l.makeObject(cmd, pool, "pool", *dryRun); err != nil {
			return err
		}
		if *dryRun {
			say(cmd, "%s", makesInWords(pool))
			return nil
		}
		return wait.until(cmd, l.poolReady(pool.Name))
	}
	return cmd
}

// poolCreateFlags gives a command the fields of a pool.
func poolCreateFlags(cmd *cobra.Command) *poolOptions {
	o := &poolOptions{}
	flags := cmd.Flags()
	flags.StringVar(&o.cluster, "cluster", "", "`name` of the cluster that the pool belongs to")
	flags.Var(&single{value: &o.role}, "role", "`name` of the role: what the machines are for")
	flags.StringVar(&o.location, "location", "", "`[kind/]name` of the place: Location or ClusterLocation")
	flags.Int32Var(&o.replicas, "replicas", 1, "how many machines there should be")
	flags.Int32Var(&o.least, "min", 0, "least number of machines, for the autoscaler")
	flags.Int32Var(&o.most, "max", 0, "greatest number of machines, for the autoscaler")
	flags.StringVar(&o.instanceType, "instance-type", "", "`name` of the instance type of a machine")
	flags.StringVar(&o.cpu, "cpu", "", "`amount` of processor of a machine")
	flags.StringVar(&o.memory, "memory", "", "`amount` of memory of a machine")
	flags.StringVar(&o.disk, "disk", "", "`size` of the system disk of a machine")
	for _, name := range []string{"cluster", "role", "location"} {
		_ = cmd.MarkFlagRequired(name) // it exists: see above
	}
	return o
}

// check looks for flags that contradict each other.
func (o *poolOptions) check(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	o.counted, o.bounded, o.sized = changed("replicas"), changed("min") || changed("max"), o.cpu+o.memory != ""
	switch {
	case o.counted && o.bounded:
		return errors.New("--replicas and --min, --max cannot both be given: a number is yours to decide, or the autoscaler's")
	case o.bounded && !changed("max"):
		return errors.New("--max is required with --min: an autoscaled pool has both bounds")
	case o.instanceType != "" && o.sized:
		return errors.New("--instance-type and --cpu, --memory cannot both be given: a machine has one size")
	case o.sized && (o.cpu == "" || o.memory == ""):
		return errors.New("--cpu and --memory go together: give both")
	}
	return nil
}

// pool is the object that the flags describe. Which kind of machine it has is the location's to say.
func (o *poolOptions) pool(ctx context.Context, l *live, name string) (*api.NodePool, error) {
	pool := &api.NodePool{}
	pool.Name, pool.Namespace = name, l.namespace
	clean(pool)
	reference, place, err := l.location(ctx, o.location)
	if err != nil {
		return nil, err
	}
	pool.Spec.ClusterName, pool.Spec.Role, pool.Spec.LocationRef = api.Name(o.cluster), api.Name(o.role), reference
	if o.bounded {
		pool.Spec.Autoscaling = &api.Autoscaling{Min: &o.least, Max: &o.most}
	} else {
		pool.Spec.Replicas = &o.replicas
	}
	pool.Spec.Machine, err = o.machine(place.Member(), reference)
	return pool, err
}

// machine is what a machine is made of in a kind of place.
func (o *poolOptions) machine(member api.Member, where api.LocationReference) (api.Machine, error) {
	resources, err := o.resources()
	if err != nil {
		return api.Machine{}, err
	}
	switch member {
	case api.MemberKubeVirt:
		return o.kubevirt(resources)
	case api.MemberSim:
		if o.instanceType != "" || o.disk != "" {
			return api.Machine{}, fmt.Errorf("%s %s is a simulated place: its machines have --cpu and --memory, and no --instance-type or --disk", where.Kind, where.Name)
		}
		return api.Machine{Sim: &api.SimMachine{Resources: resources}}, nil
	}
	return api.Machine{}, Hint(fmt.Errorf("%s %s is a place of kind %s, whose pools list their hosts", where.Kind, where.Name, member),
		"write the NodePool as YAML and apply it with kubectl: docs/kinds/nodepool.md shows one")
}

// kubevirt is a virtual machine.
func (o *poolOptions) kubevirt(resources *api.Resources) (api.Machine, error) {
	if resources == nil && o.instanceType == "" {
		return api.Machine{}, errors.New("a machine needs a size: give --instance-type, or --cpu and --memory")
	}
	machine := &api.KubeVirtMachine{Size: api.KubeVirtSize{InstanceType: o.instanceType, Resources: resources}}
	if o.disk != "" {
		size, err := quantityOf("disk", o.disk)
		if err != nil {
			return api.Machine{}, err
		}
		machine.Disk = &api.KubeVirtDisk{Size: size}
	}
	return api.Machine{KubeVirt: machine}, nil
}

// resources is processor and memory, if they are given.
func (o *poolOptions) resources() (*api.Resources, error) {
	if !o.sized {
		return nil, nil
	}
	cpu, err := quantityOf("cpu", o.cpu)
	if err != nil {
		return nil, err
	}
	memory, err := quantityOf("memory", o.memory)
	if err != nil {
		return nil, err
	}
	return &api.Resources{CPU: *cpu, Memory: *memory}, nil
}

// makesInWords says what the pool would bring.
func makesInWords(pool *api.NodePool) string {
	if bounds := pool.Spec.Autoscaling; bounds != nil {
		return fmt.Sprintf("nothing was made: the pool would have between %d and %s, as the autoscaler decides", *bounds.Min, count(int(*bounds.Max), "machine"))
	}
	return fmt.Sprintf("nothing was made: the pool would make %s", count(int(*pool.Spec.Replicas), "machine"))
}

// location finds a place by KIND/NAME or by NAME alone, if only one kind has it.
func (l *live) location(ctx context.Context, text string) (api.LocationReference, api.LocationSpec, error) {
	kind, name, split := strings.Cut(text, "/")
	if !split {
		kind, name = "", text
	}
	places, err := l.places(ctx, kind)
	if err != nil {
		return api.LocationReference{}, api.LocationSpec{}, err
	}
	var found []api.LocationReference
	var known []string
	for _, reference := range placeNames(places) {
		known = append(known, string(reference.Name))
		if string(reference.Name) == name {
			found = append(found, reference)
		}
	}
	switch len(found) {
	case 1:
		return found[0], places[found[0]], nil
	case 0:
		return api.LocationReference{}, api.LocationSpec{}, Hint(fmt.Errorf("there is no place %q for namespace %q%s", text, l.namespace, nearest.Hint(name, known)),
			"'kubectl get locations,clusterlocations' lists them")
	}
	return api.LocationReference{}, api.LocationSpec{}, fmt.Errorf("there is both a Location and a ClusterLocation %q: give Location/%[1]s or ClusterLocation/%[1]s", name)
}
