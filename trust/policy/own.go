// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"net/netip"
	"strings"
)

// Own is what no machine may be called: the names and addresses of the control plane and of the signer.
type Own struct {
	names    map[string]bool
	networks []netip.Prefix
}

// NewOwn reads names, addresses and networks. Loopback is left out: every worker asks for 127.0.0.1, and a certificate
// for it is of use to nobody else.
func NewOwn(entries []string) (Own, error) {
	own := Own{names: map[string]bool{}}
	for _, entry := range entries {
		if network, err := ParseNetwork(entry); err == nil {
			if !network.IsSingleIP() || !isLocal(network.Addr()) {
				own.networks = append(own.networks, network)
			}
			continue
		}
		name := normal(entry)
		if strings.Contains(entry, "/") || !isName(name) {
			return Own{}, fmt.Errorf("%q is neither a name, an address nor a network", entry)
		}
		if name != localhost {
			own.names[name] = true
		}
	}
	return own, nil
}

// localhost is the name that means another machine to everybody.
const localhost = "localhost"

// isLocal says whether an address is one of those two that every machine has. Others of 127.0.0.0/8 are not asked for.
func isLocal(address netip.Addr) bool {
	return address == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || address == netip.IPv6Loopback()
}

// hasName says whether a normal name is one of them.
func (o Own) hasName(name string) bool { return o.names[name] }

// hasAddress says whether an address is one of them.
func (o Own) hasAddress(address netip.Addr) bool { return within(o.networks, address) }

// A Mode says what happens to a request that asks for an own name.
type Mode string

const (
	// Refuse refuses the request.
	Refuse Mode = "refuse"
	// Drop leaves the name out of the certificate, for machines that all carry the endpoint among their names.
	Drop Mode = "drop"
	// Allow signs it: as unsafe as a signer without this rule, and only there to take such a one's place.
	Allow Mode = "allow"
)

// ParseMode reads a mode.
func ParseMode(text string) (Mode, error) {
	switch mode := Mode(text); mode {
	case Refuse, Drop, Allow:
		return mode, nil
	}
	return "", fmt.Errorf("%q is not one of refuse, drop, allow", text)
}
