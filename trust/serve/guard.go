// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/credentials"

	"minos.dev/minos/trust/limit"
)

// A guard lets connections in and knows whose they are.
type guard struct {
	table   *limit.Table
	gate    *limit.Gate
	metrics *Metrics
	now     func() time.Time
}

// listener hands on what the guard lets in.
type listener struct {
	net.Listener
	guard *guard
}

// Accept waits for a connection that is let in.
func (l *listener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if connection := l.guard.admit(raw); connection != nil {
			return connection, nil
		}
	}
}

// A conn is a connection with a place at the gate.
type conn struct {
	net.Conn
	address netip.Addr
	source  netip.Prefix
	pass    *limit.Pass
	guard   *guard
	hungUp  atomic.Bool
}

// admit gives a connection its place, or closes it.
func (g *guard) admit(raw net.Conn) net.Conn {
	admitted := &conn{Conn: raw, address: addressOf(raw.RemoteAddr()), guard: g}
	admitted.source = limit.SourceOf(admitted.address)
	refusal := limit.Refusal("rate")
	if g.table.Take(admitted.source, limit.Connections, g.now()) {
		var displaced bool
		admitted.pass, displaced, refusal = g.gate.Enter(admitted.source, func() { abort(raw) })
		if displaced {
			g.metrics.displaced.Inc()
		}
	}
	if refusal != "" {
		g.metrics.refused.WithLabelValues(string(refusal)).Inc()
		abort(raw)
		return nil
	}
	g.metrics.accepted.Inc()
	return admitted
}

// abort closes a connection without a farewell, so that the system keeps nothing of it.
func abort(raw net.Conn) {
	if tcp, ok := raw.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = raw.Close()
}

// Close gives the place back.
func (c *conn) Close() error {
	c.guard.gate.Leave(c.pass)
	return c.Conn.Close()
}

// farewell is how long an answer may take to get out of a connection that is hung up.
const farewell = 100 * time.Millisecond

// hangUp ends the connection once the answer had time to leave: the next attempt costs another handshake. Until then,
// nothing that comes by it is looked at.
func (c *conn) hangUp() {
	c.hungUp.Store(true)
	_ = c.SetReadDeadline(time.Now().Add(farewell)) // the network's clock, not ours
}

// cut ends the connection now.
func (c *conn) cut() { abort(c.Conn) }

// addressOf is the address of a peer, or none.
func addressOf(address net.Addr) netip.Addr {
	if tcp, ok := address.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}

// handshakes are the usual TLS handshakes, which also tell the gate and remember the connection for the handler.
type handshakes struct {
	credentials.TransportCredentials
	guard *guard
}

// auth is what a handler learns of the connection that its request came by.
type auth struct {
	credentials.TLSInfo
	conn *conn
}

var errDisplaced = errors.New("the connection made room for another")

// ServerHandshake does the handshake. The time that it may take is gRPC's to watch, together with what follows it.
func (h handshakes) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	secure, info, err := h.TransportCredentials.ServerHandshake(raw)
	if err != nil {
		h.guard.metrics.handshakes.WithLabelValues(handshakeFailure(err)).Inc()
		return nil, nil, err
	}
	ours, isOurs := raw.(*conn)
	details, isTLS := info.(credentials.TLSInfo)
	if !isOurs || !isTLS || !h.guard.gate.Settle(ours.pass) {
		h.guard.metrics.handshakes.WithLabelValues("displaced").Inc()
		_ = secure.Close()
		return nil, nil, errDisplaced
	}
	return secure, auth{details, ours}, nil
}

// Clone is asked for by the interface.
func (h handshakes) Clone() credentials.TransportCredentials {
	return handshakes{h.TransportCredentials.Clone(), h.guard}
}

// handshakeFailure sorts what went wrong into a few words, for counting.
func handshakeFailure(err error) string {
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return "timeout"
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "not-tls"
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return "alert"
	}
	if errors.Is(err, errNoIdentity) {
		return "not-ready"
	}
	return "other"
}
