// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	wire "minos.dev/minos/backend/sim"

	"minos.dev/minos/backend"
	"minos.dev/minos/sim/conduct"
	"minos.dev/minos/sim/machine"
)

// Options are one cloud.
type Options struct {
	// Folder is where the books and the disks are. Empty means in memory, as long as the program lives.
	Folder string
	// Rack is where the machines run. Names of machines are unique in it: two clouds of one rack share them.
	Rack *machine.Rack
	// Keeper is how the cloud treats those who call it. Nil means as well as possible.
	Keeper *conduct.Keeper
	// Addresses gives every machine its own. Nil means that all are at 127.0.0.1, each with a port of its own.
	Addresses Addresses
	// Images finds what a machine boots. Nil means an image of the wanted version without extensions.
	Images Images
	// Now is the clock of the books. Nil means the real one.
	Now func() time.Time
	// Stamp is the clock that an instance's time of making is read off, which may be wrong and may jump. Nil means the same.
	Stamp func() time.Time
	// Log is told what happens, also at the same time. It must not call the cloud.
	Log func(Event)

	// cut is for tests: an error of it stops the cloud before a step, as a kill does.
	cut func(step string) error
}

// Addresses gives machines their addresses. Take for a name that has one returns it, and Give for one that has none does
// nothing: after a kill both are asked for again.
type Addresses interface {
	Take(name string) (netip.Addr, error)
	Give(name string) error
}

// Images finds the image that a place was asked for. Its error is for whoever asked.
type Images func(wanted backend.Image) (machine.Image, error)

// FromFactory finds images by schematic, with the extensions that the factory knows of it.
func FromFactory(factory *machine.Factory) Images {
	return func(wanted backend.Image) (machine.Image, error) {
		found, err := factory.Image(fmt.Sprintf("factory/%s:%s", wanted.Schematic, wanted.Version))
		if err != nil {
			return machine.Image{}, fmt.Errorf("there is no image of schematic %q: give one that the factory knows", wanted.Schematic)
		}
		found.Reference = "" // it is a disk image
		return found, nil
	}
}

// plain is an image without extensions.
func plain(wanted backend.Image) (machine.Image, error) {
	return machine.Image{Version: string(wanted.Version), Schematic: wanted.Schematic}, nil
}

// An Event is something that happened in the cloud.
type Event struct {
	Time time.Time
	// Machine is the name of the instance; empty for a list.
	Machine string
	// Message says what happened, in words and without secrets.
	Message string
}

// everywhere is the address of machines that have none of their own.
var everywhere = netip.MustParseAddr("127.0.0.1")

// filled returns options in which nothing is missing, or says what cannot be filled.
func (o Options) filled() (Options, error) {
	if o.Rack == nil {
		return o, errors.New("a cloud needs a rack for its machines")
	}
	if o.Keeper == nil {
		o.Keeper = conduct.NewKeeper(0, 1, conduct.Behaviour{})
	}
	if o.Images == nil {
		o.Images = plain
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Stamp == nil {
		o.Stamp = o.Now
	}
	if o.Log == nil {
		o.Log = func(Event) {}
	}
	behaviour := o.Keeper.Behaviour()
	if lag := o.Keeper.Scaled(behaviour.Lag.Duration); lag > wire.Settles {
		return o, fmt.Errorf("lag: reads are late by %s, and callers are told that they settle within %s: lower it", lag, wire.Settles)
	}
	return o, behaviour.Check()
}
