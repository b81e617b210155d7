// SPDX-License-Identifier: Apache-2.0

package loopback

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"

	"minos.dev/minos/sim/file"
)

// A memory is a folder that remembers a network; an empty one remembers nothing.
type memory struct{ folder string }

// remembered is the file's form.
type remembered struct {
	Network   netip.Prefix          `json:"network"`
	Addresses map[string]netip.Addr `json:"addresses"`
}

func (m memory) file() string { return filepath.Join(m.folder, "loopback.json") }

// read returns the number of the network and who has which address; zero if there is nothing to remember. What cannot be
// understood is an error, and stays: other addresses than yesterday's would break every certificate.
func (m memory) read() (byte, map[string]netip.Addr, error) {
	nothing := map[string]netip.Addr{}
	if m.folder == "" {
		return 0, nothing, nil
	}
	var kept remembered
	found, err := file.ReadJSON(m.file(), &kept)
	if err == nil && !found {
		return 0, nothing, nil
	}
	if err == nil {
		err = kept.check()
	}
	if err != nil {
		return 0, nil, fmt.Errorf("addresses of the last start in %s: %w: restore the file, or remove it to start with others", m.folder, err)
	}
	if kept.Addresses == nil {
		kept.Addresses = nothing
	}
	return kept.Network.Addr().As4()[1], kept.Addresses, nil
}

// check says whether it is something that write wrote.
func (r remembered) check() error {
	address := r.Network.Addr()
	if !address.Is4() || r.Network.Bits() != 16 || r.Network != r.Network.Masked() {
		return fmt.Errorf("network %q is not of the form 127.16.0.0/16", r.Network)
	}
	if bytes := address.As4(); bytes[0] != 127 || bytes[1] < first || bytes[1] > last {
		return fmt.Errorf("network %s is not one of 127.%d.0.0/16 to 127.%d.0.0/16", r.Network, first, last)
	}
	names := map[netip.Addr]string{}
	for name, address := range r.Addresses {
		if !r.Network.Contains(address) {
			return fmt.Errorf("address %s of %s is not in %s", address, name, r.Network)
		}
		if other, twice := names[address]; twice {
			return fmt.Errorf("address %s belongs to %s and to %s", address, min(name, other), max(name, other))
		}
		names[address] = name
	}
	return nil
}

// write remembers, in one step: whoever reads finds all of the old or all of the new.
func (m memory) write(number byte, taken map[string]netip.Addr) error {
	if m.folder == "" {
		return nil
	}
	kept := remembered{Network: netip.PrefixFrom(netip.AddrFrom4([4]byte{127, number, 0, 0}), 16), Addresses: taken}
	err := os.MkdirAll(m.folder, 0o700)
	if err == nil {
		err = file.WriteJSON(m.file(), kept)
	}
	if err != nil {
		return fmt.Errorf("remember addresses: %w", err)
	}
	return nil
}
