// SPDX-License-Identifier: Apache-2.0

// Package loopback gives a simulated data centre addresses of its own. All of 127.0.0.0/8 belongs to this machine's
// loopback device (on Linux without being set up), so that every simulated place can have real ports at an address that
// nobody else has: two API servers on 6443 side by side.
package loopback

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"syscall"
)

const (
	// first and last are the second bytes of the networks that are handed out. Below are addresses that other programs
	// like, and 127.255.255.255 is a broadcast address.
	first, last = 16, 254
	// claimPort is held at 127.N.0.1 by whoever has 127.N.0.0/16.
	claimPort = 16127
)

// A Network is a part of the loopback network that this program has for itself.
type Network struct {
	number byte
	claim  net.Listener
	memory memory

	mutex sync.Mutex
	taken map[string]netip.Addr
}

// Claim takes a network 127.N.0.0/16 for this program alone. The folder remembers which, and who has which address, so
// that the next start has the same addresses; an empty folder means that nothing is remembered.
//
// The claim is a port that is held. The kernel frees it when the program ends, however it ends.
func Claim(folder string) (*Network, error) {
	kept := memory{folder}
	number, taken, err := kept.read()
	if err != nil {
		return nil, err
	}
	n := &Network{memory: kept, taken: taken}
	if number != 0 {
		err = n.hold(number)
		if errors.Is(err, syscall.EADDRINUSE) {
			err = fmt.Errorf("%s of folder %s is in use by another program: end it, or use another folder", n.Prefix(), folder)
		}
	} else {
		err = n.holdAny()
	}
	if err != nil {
		return nil, err
	}
	if err := kept.write(n.number, n.taken); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// holdAny takes the first network that is free, beginning anywhere so that two programs seldom meet.
func (n *Network) holdAny() error {
	const all = last - first + 1
	start := rand.IntN(all)
	for step := range all {
		err := n.hold(byte(first + (start+step)%all))
		if !errors.Is(err, syscall.EADDRINUSE) {
			return err
		}
	}
	return fmt.Errorf("all networks of 127.0.0.0/8 are in use: end a program that simulates")
}

// hold takes one network.
func (n *Network) hold(number byte) error {
	n.number = number
	at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, number, 0, 1}), claimPort)
	claim, err := net.Listen("tcp4", at.String())
	if errors.Is(err, syscall.EADDRNOTAVAIL) {
		return fmt.Errorf("this system has no address %s: a simulated data centre needs Linux", at.Addr())
	}
	n.claim = claim
	return err
}

// Prefix is the network.
func (n *Network) Prefix() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{127, n.number, 0, 0}), 16)
}

// Take returns the address of a name, which is the same each time, also after a restart. A new name gets the lowest
// address that nobody has.
func (n *Network) Take(name string) (netip.Addr, error) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if address, ok := n.taken[name]; ok {
		return address, nil
	}
	address, err := n.free()
	if err != nil {
		return netip.Addr{}, err
	}
	n.taken[name] = address
	if err := n.memory.write(n.number, n.taken); err != nil {
		delete(n.taken, name)
		return netip.Addr{}, err
	}
	return address, nil
}

// Give frees the address of a name. A name that has none is no mistake.
func (n *Network) Give(name string) error {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	address, ok := n.taken[name]
	if !ok {
		return nil
	}
	delete(n.taken, name)
	if err := n.memory.write(n.number, n.taken); err != nil {
		n.taken[name] = address
		return err
	}
	return nil
}

// free finds the lowest address that nobody has. 127.N.0.0/24 is left out: the claim is there.
func (n *Network) free() (netip.Addr, error) {
	used := map[netip.Addr]bool{}
	for _, address := range n.taken {
		used[address] = true
	}
	for third := byte(1); third < 255; third++ {
		for fourth := byte(1); fourth < 255; fourth++ {
			if address := netip.AddrFrom4([4]byte{127, n.number, third, fourth}); !used[address] {
				return address, nil
			}
		}
	}
	return netip.Addr{}, fmt.Errorf("%s has no address left: give some back", n.Prefix())
}

// Close gives the network back. What the folder remembers stays.
func (n *Network) Close() error {
	return n.claim.Close()
}
