// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	"minos.dev/minos/sim/machine"
)

// catchUp brings a rehearsal that goes on to where it was: what was set is set again, what happened is not done again.
func (p *play) catchUp() error {
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
		p.tell("", "", fmt.Sprintf("pools are scaled: %v", step.Scale))
		return p.want()
	case step.Set != nil:
		p.turn(step)
	default:
		for _, name := range p.matching(step.Machines) {
			p.act(ctx, step, name)
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
		if found := p.stage.cloud.Machine(name); found != nil {
			found.Set(step.Set.turn)
			p.tell(name, "", "its knobs are turned")
		}
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

// act lets something happen to a machine. What takes long does not hold the rehearsal up.
func (p *play) act(ctx context.Context, step Step, name string) {
	switch step.Do {
	case Die:
		p.said(name, "it dies", p.stage.cloud.Kill(name))
	case Stop:
		p.said(name, "its power is cut", p.stage.cloud.Stop(name))
	case Start:
		p.said(name, "its power is switched on", p.stage.cloud.Start(name))
	case Reboot:
		p.tell(name, "", "it is asked to reboot")
		p.errands.call(ctx, name, func(ctx context.Context) error { return p.reboot(ctx, name) })
	default:
		p.tell(name, "", "it is asked to upgrade to "+string(step.Upgrade))
		p.errands.call(ctx, name, func(ctx context.Context) error { return p.upgrade(ctx, name, step.Upgrade) })
	}
}

// said tells what happened, or why it did not.
func (p *play) said(name, what string, err error) {
	if err != nil {
		what = fmt.Sprintf("nothing happens: %v", err)
	}
	p.tell(name, "", what)
}
