// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"
)

// A boot is one life of a machine, from power to the next.
type boot struct {
	*Machine
	context context.Context // ends with it
	started time.Time
	image   Image   // what runs
	begin   Content // what was on the disk
	api     *server // the Talos API of this boot

	mutex    sync.Mutex
	provider talosconfig.Provider // nil while there is none
	node     string
	identity *identity
	kube     *kube
	services []ServiceState
	pulled   map[string]bool
	rotateAt time.Time // of the kubelet's client certificate
	serving  bool      // the kubelet has a certificate to serve with
	ended    bool      // Talos's boot sequence did
	jobs     sync.Once // what is done now and then was scheduled

	deadline *time.Timer // of the boot
}

// boot is one life.
func (m *Machine) boot(power context.Context) verdict {
	ctx, cancel := context.WithCancel(power)
	defer cancel()
	b := &boot{Machine: m, context: ctx, started: time.Now(), pulled: map[string]bool{}}
	defer b.end(power)
	if err := b.powerOn(); err != nil {
		m.stop(StepConfig, err.Error())
		return b.hang()
	}
	b.api = newServer(b)
	m.shown.Store(b)
	if !m.rack.environment.wait(ctx, m.rack.environment.Durations.Boot) {
		return killed
	}
	if b.begin.Staged != "" {
		return b.install(b.begin.Staged)
	}
	if end := b.configure(); end != goingOn {
		return end
	}
	if b.setting().RequiresInstall() {
		return b.install(installer(b.config()))
	}
	return b.live()
}

// end takes from the world what a machine without power cannot have. A power cut does not wait for answers that are on
// their way; a reboot does, since it may be one of them.
func (b *boot) end(power context.Context) {
	b.shown.Store(nil)
	if power.Err() != nil {
		b.gate.shut()
	}
	if b.api != nil {
		b.api.stop()
	}
	b.gate.shut()
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.kube != nil {
		b.kube.close()
	}
}

// powerOn counts the boot and decides what boots.
func (b *boot) powerOn() error {
	knobs := b.turned()
	drain(b.poke)
	drain(b.commands)
	err := b.save(func(content Content) (Content, error) {
		if knobs.Upgrade == UpgradeFallsBack {
			content, _ = content.Fail() // without a word, as a boot loader does it
		}
		b.begin = content.PowerOn(newIdentity(b.options.Name, content.Boots))
		return b.begin, nil
	})
	image, found := b.begin.Running()
	if !found && b.options.Netboot != nil {
		image = *b.options.Netboot
	}
	b.image = image
	b.board.write(func(s *Status) bool {
		s.Stage, s.Steps, s.Boots, s.Image, s.Node = stageBooting, blank(), b.begin.Boots, image, ""
		return true
	})
	b.say("", "boots %s", image.Version)
	switch {
	case err != nil:
		return fmt.Errorf("the disk: %w", err)
	case !found && b.options.Netboot == nil:
		return errors.New("there is no operating system on the disk")
	}
	return nil
}

// drain empties a channel: what was said to the last boot is not for this one.
func drain[T any](from chan T) {
	select {
	case <-from:
	default:
	}
}

// hang stays as it is until the power is cut, or a command comes: there is nobody who could give one but the owner of the rack.
func (b *boot) hang() verdict {
	for {
		select {
		case <-b.context.Done():
			return killed
		case <-b.poke:
		case c := <-b.commands:
			if end := b.obey(b.context, c); end != goingOn {
				return end
			}
		}
	}
}

// setting is how this machine reads configurations.
func (b *boot) setting() setting {
	_, installed := b.begin.Running()
	return setting{version: b.image.Version, platform: b.options.Platform, installed: installed}
}

// config returns the configuration in force.
func (b *boot) config() talosconfig.Provider {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.provider
}

// use puts a configuration in force.
func (b *boot) use(provider talosconfig.Provider) {
	b.mutex.Lock()
	b.provider = provider
	if complete(provider) {
		b.node = hostname(provider, b.options.Hostname, b.begin.Identity)
	}
	name := b.node
	b.mutex.Unlock()
	b.board.write(func(s *Status) bool { changed := s.Node != name; s.Node = name; return changed })
	b.publish()
}

// configure reads the configuration of the disk, or else that of the place, or else waits for somebody to bring one.
func (b *boot) configure() verdict {
	text := b.begin.Config
	if len(text) == 0 {
		text = b.options.UserData
	}
	if len(text) > 0 {
		provider, err := b.rack.library.read(b.setting(), text)
		if err != nil {
			b.stop(StepConfig, err.Error())
			return b.hang()
		}
		if end := b.keep(text); end != goingOn {
			return end
		}
		b.use(provider)
	}
	if !complete(b.config()) {
		if end := b.maintain(); end != goingOn {
			return end
		}
	}
	b.reach(StepConfig)
	return goingOn
}

// keep writes the configuration to the disk before anything is done with it, as soon as there is room.
func (b *boot) keep(text []byte) verdict {
	for len(b.begin.Config) == 0 {
		err := b.write(func(content Content) (Content, error) { return content.Configure(text), nil })
		if err == nil {
			return goingOn
		}
		b.stop(StepConfig, err.Error())
		end := b.attend(nil)
		if end.command != nil {
			end.then = b.obey(b.context, *end.command)
		}
		if end.then != goingOn {
			return end.then
		}
	}
	return goingOn
}

// maintain serves the API to everybody until a configuration is applied.
func (b *boot) maintain() verdict {
	if err := b.api.maintenance(); err != nil {
		b.stop(StepConfig, err.Error())
		return b.hang()
	}
	for {
		b.open()
		b.stage(stageMaintenance)
		b.stop(StepConfig, "maintenance mode: waits for a configuration")
		select {
		case <-b.context.Done():
			return killed
		case <-b.poke:
			if complete(b.config()) {
				b.stage(stageBooting)
				return goingOn
			}
		case c := <-b.commands:
			if end := b.obey(b.context, c); end != goingOn {
				return end
			}
		}
	}
}

// open lets callers in, unless a knob says otherwise.
func (b *boot) open() {
	if b.turned().NoAPI {
		b.gate.shut()
		return
	}
	b.gate.open(b.api.serve)
}
