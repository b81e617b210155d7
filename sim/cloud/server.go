// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// The times of the server. Calls take as long as the cloud's behaviour says, within these.
const (
	heading   = 5 * time.Second
	reading   = 15 * time.Second
	answering = 2 * time.Minute
	parting   = time.Second
)

// A Server is the API of a cloud on loopback.
type Server struct {
	listener net.Listener
	server   *http.Server
}

// Listen opens the API of the cloud at an address of loopback, for example 127.0.0.1:0, for those who have one of the
// credentials. It answers when it runs.
func (c *Cloud) Listen(ctx context.Context, address string, credentials ...string) (*Server, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().IsLoopback() {
		return nil, fmt.Errorf("listen: %q is not an address of loopback: give one such as 127.0.0.1:8080", address)
	}
	var open net.ListenConfig
	listener, err := open.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen: %w: free the port, or choose another", err)
	}
	server := &http.Server{
		Handler: c.Handler(credentials...), ReadHeaderTimeout: heading, ReadTimeout: reading, WriteTimeout: answering, IdleTimeout: answering,
		MaxHeaderBytes: 16 << 10,
	}
	return &Server{listener: listener, server: server}, nil
}

// URL is where the API is.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Run answers until the context ends, and then hangs up on those who still wait.
func (s *Server) Run(ctx context.Context) error {
	s.server.BaseContext = func(net.Listener) context.Context { return ctx } // a call that waits ends with it
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		s.end(context.WithoutCancel(ctx))
	})
	err := s.server.Serve(s.listener)
	if stop() || !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-ended
	return nil
}

// end waits for a moment for those who are being answered, and cuts off the rest.
func (s *Server) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, parting)
	defer cancel()
	_ = s.server.Shutdown(ctx) // who is not done by then is cut off
	_ = s.server.Close()
}
