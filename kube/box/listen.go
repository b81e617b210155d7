// SPDX-License-Identifier: Apache-2.0

package box

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// Loopback is where everything listens that is not told otherwise.
var Loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// Listen binds a port of a loopback address; 0 picks a free one. Whoever serves on it is told the port only when it is
// bound, so that nobody can take it in between. The flag is the one that chooses another.
func Listen(at netip.AddrPort, flag string) (net.Listener, error) {
	listener, err := net.Listen("tcp4", at.String())
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("port %d on %s is in use; choose another with %s (0 picks a free one)", at.Port(), at.Addr(), flag)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", at, err)
	}
	return listener, nil
}
