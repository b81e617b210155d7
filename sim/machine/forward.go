// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"net"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// errForward is what Talos's workers say to who wants a question passed on. Control planes would pass it on; none is simulated.
var errForward = status.Error(codes.PermissionDenied, "no request forwarding")

// own refuses a call that is meant for another machine.
func (s *server) own(ctx context.Context) error {
	asked, _ := metadata.FromIncomingContext(ctx)
	here := []string{s.boot.name()}
	for _, address := range s.boot.options.Addresses {
		here = append(here, address.String())
	}
	if host, _, err := net.SplitHostPort(s.boot.gate.address()); err == nil {
		here = append(here, host)
	}
	for _, name := range slices.Concat(asked.Get("node"), asked.Get("nodes")) {
		if !slices.Contains(here, name) {
			return errForward
		}
	}
	return nil
}

// ownCall is [server.own] for one call.
func (s *server) ownCall(ctx context.Context, in any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if err := s.own(ctx); err != nil {
		return nil, err
	}
	return next(ctx, in)
}

// ownStream is [server.own] for a stream.
func (s *server) ownStream(service any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	if err := s.own(stream.Context()); err != nil {
		return err
	}
	return next(service, stream)
}
