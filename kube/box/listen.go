// SPDX-License-Identifier: Apache-2.0

package box

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// Listen binds a port on loopback; 0 picks a free one. Whoever serves on it is told the port only when it is bound, so
// that nobody can take it in between. The flag is the one that chooses another.
func Listen(port int, flag string) (net.Listener, error) {
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("port %d on 127.0.0.1 is in use; choose another with %s (0 picks a free one)", port, flag)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on port %d: %w", port, err)
	}
	return listener, nil
}
