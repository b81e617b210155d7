// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	"minos.dev/minos/sim/machine"
)

// catchUp brings a rehearsal that goes on to where it was: what was set is set again, what happened is not done again, and a
// call whose end nobody saw is made again.
func (p *play) catchUp(ctx context.Context) error {
	for _, step := range p.options.Scenario.Steps[:p.journal.Done] {
		switch {
		case step.Place != nil:
			p.stage.keeper.Set(*step.Place)
		case step.Scale != nil:
			maps.Copy(p.counts, step.Scale)
		case step.Set != nil:
			p.turn(step)
		}
	}
	for _, begun := range p.journal.Begun {
		p.act(ctx, begun, true)
	}
	if err := p.errands.forsaken(ctx); err != nil {
		return err
	}
	return p.want()
}

// steps takes those that are due.
func (p *play) steps(ctx context.Context, now time.Duration) error {
	for p.journal.Done < len(p.options.Scenario.Steps) {
		step := p.options.Scenario.Steps[p.journal.Done]
		if step.At.Duration > now || step.Await != nil && step.Await.lacks(p.statuses()) != "" {
			return nil
		}
		if err := p.take(ctx, step); err != nil {
			return fmt.Errorf("steps[%d]: %w", p.journal.Done, err)
		}
		p.journal.Done++
		if err := p.save(now); err != nil {
			return err
		}
	}
	return nil
}

// take takes one step.
func (p *play) take(ctx context.Context, step Step) error {
	switch {
	case step.Place != nil:
		p.stage.keeper.Set(*step.Place)
		p.tell("", "", "the place behaves in another way")
	case step.Scale != nil:
		maps.Copy(p.counts, step.Scale)
		for _, pool := range slices.Sorted(maps.Keys(step.Scale)) {
			p.tell("", "", fmt.Sprintf("pool %s is scaled to %d", pool, step.Scale[pool]))
		}
		return p.want()
	case step.Set != nil:
		p.turn(step)
	default:
		for _, name := range p.matching(step.Machines) {
			p.act(ctx, Call{Step: p.journal.Done, Machine: name}, false)
		}
	}
	return nil
}

// want computes which machines there should be.
func (p *play) want() (err error) {
	p.wanted, err = p.stage.declared.Machines(p.stage.cluster, p.counts)
	return err
}

// matching are the names of instances that match a pattern.
func (p *play) matching(pattern string) []string {
	var names []string
	for _, instance := range p.stage.cloud.Instances() {
		if match, _ := path.Match(pattern, instance.Name); match {
			names = append(names, instance.Name)
		}
	}
	if len(names) == 0 {
		p.tell("", "", fmt.Sprintf("nothing happens: no machine is called %q", pattern))
	}
	return names
}

// turn turns the knobs of machines.
func (p *play) turn(step Step) {
	for _, name := range p.matching(step.Machines) {
		found := p.stage.cloud.Machine(name)
		if found == nil {
			p.tell(name, "", "nothing happens: it has no power")
			continue
		}
		found.Set(step.Set.turn)
		p.tell(name, "", "its knobs are turned")
	}
}

// turn sets what is said.
func (k *Knobs) turn(knobs *machine.Knobs) {
	set := func(knob, said *bool) {
		if said != nil {
			*knob = *said
		}
	}
	set(&knobs.NoCNI, k.NoCNI)
	set(&knobs.NoKubeletImage, k.NoKubeletImage)
	set(&knobs.NoAPI, k.NoAPI)
	set(&knobs.Silent, k.Silent)
	set(&knobs.DiskFull, k.DiskFull)
	if k.Upgrade != "" {
		knobs.Upgrade = k.Upgrade
	}
	if k.Devices != nil {
		knobs.Devices = slices.Clone(k.Devices)
	}
}

// act lets something happen to a machine. What takes long does not hold the rehearsal up: it is written down until it ended.
func (p *play) act(ctx context.Context, call Call, again bool) {
	step, name := p.options.Scenario.Steps[call.Step], call.Machine
	switch step.Do {
	case Die:
		p.said(name, "it dies", p.stage.cloud.Kill(name))
	case Stop:
		p.said(name, "its power is cut", p.stage.cloud.Stop(name))
	case Start:
		p.said(name, "its power is switched on", p.stage.cloud.Start(name))
	case Reboot:
		p.tell(name, "", "it is asked to reboot")
		p.call(ctx, call, again, p.reboot)
	default:
		p.tell(name, "", "it is asked to upgrade to "+string(step.Upgrade))
		p.call(ctx, call, again, func(ctx context.Context, name string) error { return p.upgrade(ctx, name, step.Upgrade) })
	}
}

// call makes a call after which a machine reboots. One that is made again, because the simulator was killed, waits for the
// machine to answer.
func (p *play) call(ctx context.Context, call Call, again bool, do func(context.Context, string) error) {
	if !again {
		p.journal.Begun = append(p.journal.Begun, call)
	}
	p.errands.call(ctx, call, func(ctx context.Context) error {
		found := p.stage.cloud.Machine(call.Machine)
		if found == nil {
			return errNoPower
		}
		if again {
			if err := found.WaitFor(ctx, machine.StepTrustd); err != nil {
				return err
			}
		}
		boots := found.Status().Boots
		if err := do(ctx, call.Machine); err != nil {
			return err
		}
		_, err := found.Wait(ctx, rebooted(boots))
		return err
	})
}

// errNoPower is why a machine does not answer.
var errNoPower = errors.New("it has no power")

// rebooted says whether a machine has booted since it was asked to, or has given that up.
func rebooted(boots int) func(machine.Status) bool {
	worked := false
	return func(status machine.Status) bool {
		worked = worked || status.Stage == "upgrading" || status.Stage == "rebooting"
		return status.Boots > boots || worked && status.Stage == "running"
	}
}

// said tells what happened, or why it did not.
func (p *play) said(name, what string, err error) {
	if err != nil {
		what = fmt.Sprintf("nothing happens: %v", err)
	}
	p.tell(name, "", what)
}
