// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"net"
	"sync"
)

// connections is a listener that can hang up on everybody. The API server on its way out waits a minute for those who
// watch, and a watch has no reason to end.
type connections struct {
	net.Listener

	mu   sync.Mutex
	open map[net.Conn]struct{}
}

func track(listener net.Listener) *connections {
	return &connections{Listener: listener, open: map[net.Conn]struct{}{}}
}

// Accept waits for the next connection and remembers it.
func (c *connections) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[conn] = struct{}{}
	return &connection{Conn: conn, all: c}, nil
}

// hangUp closes every connection.
func (c *connections) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		_ = conn.Close()
	}
}

// A connection forgets itself when it is closed.
type connection struct {
	net.Conn
	all *connections
}

// Close closes the connection.
func (c *connection) Close() error {
	c.all.mu.Lock()
	delete(c.all.open, c.Conn)
	c.all.mu.Unlock()
	return c.Conn.Close()
}
