// SPDX-License-Identifier: Apache-2.0

package datacentre

import (
	"net"
	"net/netip"
	"strconv"

	"minos.dev/minos/sim/door"
	"minos.dev/minos/sim/hosted"
	"minos.dev/minos/sim/kamaji"
	"minos.dev/minos/sim/loopback"
	"minos.dev/minos/sim/machine"
)

// ways have a door on the way to every control plane, at an address of its own.
type ways struct {
	network *loopback.Network
	doors   *door.Doors
}

// newWays returns those of a data centre; none, if there are no doors in it.
func newWays(network *loopback.Network, doors *door.Doors) kamaji.Ways {
	if doors == nil {
		return nil
	}
	return ways{network, doors}
}

// doorOf is what the network calls a door.
func doorOf(name string) string { return "door of " + name }

// Open opens one.
func (w ways) Open(name string, to netip.AddrPort) (netip.AddrPort, error) {
	address, err := w.network.Take(doorOf(name))
	if err != nil {
		return netip.AddrPort{}, err
	}
	at := netip.AddrPortFrom(address, hosted.Port)
	return at, w.doors.Add(door.ToTenant, at, to)
}

// Close takes it away.
func (w ways) Close(name string) error {
	address, err := w.network.Take(doorOf(name)) // which it has, or had until a kill
	if err != nil {
		return err
	}
	w.doors.Remove(netip.AddrPortFrom(address, hosted.Port))
	return w.network.Give(doorOf(name))
}

// through has machines go through doors.
func through(environment machine.Environment, doors *door.Doors) machine.Environment {
	if doors == nil {
		return environment
	}
	environment.Dial = doors.Dial(door.ToServer)
	environment.Trustd = func(endpoint string) []string {
		if nowhere := doors.Nowhere(door.ToSigner); nowhere != "" {
			return []string{nowhere}
		}
		host, _, err := net.SplitHostPort(endpoint)
		if err != nil {
			return nil // which leaves it to the machine
		}
		return []string{net.JoinHostPort(host, strconv.Itoa(hosted.SignerPort))}
	}
	return environment
}
