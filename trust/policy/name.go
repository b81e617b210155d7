// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"net/netip"
	"path"
	"strings"
)

// maxName is the longest name that DNS can say.
const maxName = 253

// normal is a name as it is compared: resolvers do not tell case apart, and a final dot changes nothing.
func normal(name string) string {
	return strings.TrimSuffix(strings.ToLower(name), ".")
}

// isName says whether a normal name could be that of a machine. It is narrow on purpose: what looks different to two
// programs (a zero byte, a blank, a wildcard) is a name by which one of them can be fooled.
func isName(name string) bool {
	return hostlike(name, "")
}

// hostlike holds a name to labels of letters, digits, hyphens and underscores, and of the extra characters given.
func hostlike(name, extra string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		strange := func(c rune) bool { return !isPlain(c) && !strings.ContainsRune(extra, c) }
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, strange) {
			return false
		}
	}
	return true
}

func isPlain(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// A Pattern is a name in which * stands for any characters but a dot.
type Pattern struct{ text string }

// ParsePattern reads a pattern: worker-*, or *.machines.example.com.
func ParsePattern(text string) (Pattern, error) {
	name := normal(text)
	if !hostlike(name, "*") {
		return Pattern{}, fmt.Errorf("%q is no name pattern: use letters, digits, hyphens, dots, and * for any part of a label", text)
	}
	return Pattern{name}, nil
}

// String is the pattern as it is compared.
func (p Pattern) String() string { return p.text }

// Matches says whether a normal name fits. With dots turned to slashes, path.Match means exactly this; its other signs
// cannot occur, since hostlike does not let them in.
func (p Pattern) Matches(name string) bool {
	slashes := strings.NewReplacer(".", "/")
	ok, err := path.Match(slashes.Replace(p.text), slashes.Replace(name))
	return ok && err == nil
}

// ParseNetwork reads a network, or an address as the network of it alone.
func ParseNetwork(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil && address.Zone() == "" {
		address = address.Unmap()
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	if err != nil || network.Addr().Is4In6() {
		return netip.Prefix{}, fmt.Errorf("%q is no network: write 10.0.0.0/8, fd00::/8 or a single address", text)
	}
	if network != network.Masked() {
		return netip.Prefix{}, fmt.Errorf("%q is no network but an address in one: write %s", text, network.Masked())
	}
	return network, nil
}

// within says whether one of the networks holds the address.
func within(networks []netip.Prefix, address netip.Addr) bool {
	for _, network := range networks {
		if network.Contains(address) {
			return true
		}
	}
	return false
}
