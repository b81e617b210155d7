// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"strings"

	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"
)

// newIdentity is what a machine calls itself, from its name in the rack and how often it was wiped: the same machine is the
// same again in another run.
func newIdentity(name string, boots int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", name, boots))
	return hex.EncodeToString(sum[:16])
}

// bootID is another with every boot.
func bootID(identity string, boots int) string {
	return newIdentity(identity, boots)
}

// hostname is what a machine is called: by its configuration, else by its place, else by its own identity, as Talos decides.
func hostname(provider talosconfig.Provider, place, identity string) string {
	if named := provider.NetworkHostnameConfig(); named != nil && named.Hostname() != "" {
		return named.Hostname()
	}
	if place != "" {
		return place
	}
	sum := sha256.Sum256([]byte(identity))
	letters := strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))
	return "talos-" + letters[:3] + "-" + letters[3:6]
}

// A subject is whom the certificate of the Talos API is for.
type subject struct {
	name  string
	names []string
	ips   []net.IP
}

// subjectOf is the name, the addresses and what the configuration adds. The address of the loopback is always among them.
func subjectOf(provider talosconfig.Provider, name string, addresses []netip.Addr) subject {
	who := subject{name: name, names: []string{name}}
	add := func(address netip.Addr) {
		ip := net.IP(address.AsSlice())
		for _, there := range who.ips {
			if there.Equal(ip) {
				return
			}
		}
		who.ips = append(who.ips, ip)
	}
	for _, address := range addresses {
		add(address)
	}
	for _, extra := range provider.Machine().Security().CertSANs() {
		if address, err := netip.ParseAddr(extra); err == nil {
			add(address)
		} else {
			who.names = append(who.names, extra)
		}
	}
	add(netip.MustParseAddr("127.0.0.1"))
	return who
}
