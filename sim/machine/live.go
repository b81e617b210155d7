// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"sync"
	"time"
)

// live is a machine with a configuration: it joins, and is there until something else is asked of it.
func (b *boot) live() verdict {
	b.stage(stageBooting)
	environment := b.rack.environment
	b.deadline = time.NewTimer(environment.scaled(environment.Durations.Deadline) - time.Since(b.started))
	defer b.deadline.Stop()
	for {
		ctx, cancel := context.WithCancel(b.context)
		var lanes sync.WaitGroup
		lanes.Go(func() { b.join(ctx) })
		end := b.attend(b.deadline.C)
		cancel()
		lanes.Wait()
		if end.then != goingOn {
			return end.then
		}
		if end.command != nil {
			if then := b.obey(b.context, *end.command); then != goingOn {
				return then
			}
			b.stage(map[bool]string{true: stageRunning, false: stageBooting}[b.hasEnded()])
		}
	}
}

// hasEnded says whether the boot did.
func (b *boot) hasEnded() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.ended
}

// An interruption is why a machine looks up.
type interruption struct {
	then    verdict
	command *command
}

// attend waits for the next thing that concerns the machine as a whole.
func (b *boot) attend(deadline <-chan time.Time) interruption {
	select {
	case <-b.context.Done():
		return interruption{then: killed}
	case <-b.poke:
		return interruption{then: goingOn}
	case c := <-b.commands:
		return interruption{then: goingOn, command: &c}
	case <-deadline:
		return interruption{then: b.giveUp()}
	}
}

// giveUp ends a boot that took too long, as Talos does: the other slot boots if this one never proved itself.
func (b *boot) giveUp() verdict {
	reverted := false
	err := b.save(func(content Content) (Content, error) {
		content, reverted = content.Fail()
		return content, nil
	})
	into := map[bool]string{true: " into the old image"}[reverted]
	b.say(StepServices, "the boot took longer than %s: reboots%s", b.rack.environment.Durations.Deadline, into)
	if err != nil {
		b.say(StepServices, "the disk: %v", err)
	}
	return again
}

// join does what leads to a machine that is ready, each thing again until it works or the context ends. The certificate of
// the Talos API and the kubelet do not wait for each other.
func (b *boot) join(ctx context.Context) {
	b.lookAtServices()
	var lanes sync.WaitGroup
	lanes.Go(func() { b.persist(ctx, StepTrustd, b.certify) })
	lanes.Go(func() {
		if b.persist(ctx, StepKubelet, b.startKubelet) && b.persist(ctx, StepNode, b.registerNode) {
			lanes.Go(func() { b.serve(ctx) })
			b.persist(ctx, StepCNI, b.awaitNetwork)
		}
	})
	lanes.Wait()
}

// settle draws the conclusions from a step that was reached. Talos's boot ends without a pod network; a machine is ready with
// one.
func (b *boot) settle() {
	status := b.Status()
	if !status.Reached(StepTrustd) || !status.Reached(StepKubelet) || !status.Reached(StepServices) {
		return
	}
	b.deadline.Stop()
	b.prove()
	if status.Reached(StepCNI) {
		b.reach(StepReady)
	}
}

// prove makes the slot that runs the one to stay with.
func (b *boot) prove() {
	if b.hasEnded() {
		return
	}
	if err := b.save(func(content Content) (Content, error) { return content.Prove(), nil }); err != nil {
		b.say("", "the disk: %v", err)
		return
	}
	b.mutex.Lock()
	b.ended = true
	b.mutex.Unlock()
	b.stage(stageRunning)
}

// persist tries until it works or the context ends, and says whether it worked. The waits grow as Talos's do.
func (b *boot) persist(ctx context.Context, step Step, try func(context.Context) error) bool {
	environment := b.rack.environment
	for wait := time.Second; ctx.Err() == nil; wait = min(2*wait, environment.Durations.Retry) {
		err := try(ctx)
		if err == nil && ctx.Err() == nil {
			b.reach(step)
			b.settle()
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		b.stop(step, err.Error())
		if !environment.wait(ctx, max(wait, time.Duration(float64(leastWait)*environment.Scale))) {
			return false
		}
	}
	return false
}

// leastWait keeps compressed time from hammering real servers.
const leastWait = 50 * time.Millisecond

// lookAtServices says which services run, and what the others wait for.
func (b *boot) lookAtServices() {
	around := surroundings(b.config(), b.options, b.turned().Devices)
	services := ExtensionServices(b.rack.catalogue, b.image, around)
	b.mutex.Lock()
	b.services = services
	b.mutex.Unlock()
	if waiting := Waiting(services); waiting != "" {
		b.stop(StepServices, waiting)
		return
	}
	b.reach(StepServices)
}
