// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"fmt"
	"time"

	securityapi "github.com/siderolabs/talos/pkg/machinery/api/security"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"minos.dev/minos/trust/issue"
	"minos.dev/minos/trust/limit"
	"minos.dev/minos/trust/policy"
	"minos.dev/minos/trust/state"
	"minos.dev/minos/trust/token"
)

// A service answers requests.
type service struct {
	store    *state.Store
	guard    *guard
	audit    *audit
	metrics  *Metrics
	now      func() time.Time
	mode     policy.Mode
	validity time.Duration
	patience time.Duration // for the message of a request
	calls    *limit.Gate   // as a handshake there is a message that has not arrived
}

// description is trustd's service. The call is unary on the wire; here it is a stream, because a stream's handler runs
// before the message is read, and what strangers send need not be read at all.
func (s *service) description() *grpc.ServiceDesc {
	return &grpc.ServiceDesc{
		ServiceName: securityapi.SecurityService_ServiceDesc.ServiceName,
		HandlerType: (*any)(nil),
		Streams:     []grpc.StreamDesc{{StreamName: "Certificate", Handler: s.certificate}},
		Metadata:    securityapi.SecurityService_ServiceDesc.Metadata,
	}
}

// A call is one request on its way.
type call struct {
	*service
	conn    *conn
	state   *state.State // all of it is answered from this one
	token   token.Token
	started time.Time
	record  record
}

// certificate is the one call.
func (s *service) certificate(_ any, stream grpc.ServerStream) (err error) {
	ctx := stream.Context()
	c := s.begin(ctx)
	defer func() {
		if broken := recover(); broken != nil {
			err = c.fail(ctx, fmt.Errorf("panic: %v", broken))
		}
	}()
	if err := c.authenticate(ctx); err != nil {
		return err
	}
	pass, _, refusal := c.calls.Enter(c.conn.source, c.conn.cut)
	if refusal != "" {
		return c.tooMany(ctx)
	}
	defer c.calls.Leave(pass)
	request := &securityapi.CertificateRequest{}
	if err := c.receive(stream, request); err != nil {
		return c.end(ctx, incomplete, status.Code(err), status.Convert(err).Message())
	}
	c.calls.Settle(pass)
	answer, err := c.answer(ctx, request.GetCsr())
	if err != nil {
		return err
	}
	return stream.SendMsg(answer)
}

// unknown answers calls of what is not there; with trustd too, that is every stream.
func (s *service) unknown(_ any, stream grpc.ServerStream) error {
	c := s.begin(stream.Context())
	return c.stranger(stream.Context(), unknown, codes.Unimplemented, "unknown method")
}

// begin looks up whose request it is. The state is taken once: what changes meanwhile is for the next one.
func (s *service) begin(ctx context.Context) *call {
	c := &call{service: s, state: s.store.Current(), started: s.now()}
	if from, ok := peer.FromContext(ctx); ok {
		if info, ok := from.AuthInfo.(auth); ok {
			c.conn = info.conn
			c.record.source = info.conn.address
		}
	}
	return c
}

// end writes the record, and returns what the client is told: the same words, which are ours or about what it sent.
func (c *call) end(ctx context.Context, result result, code codes.Code, reason string) error {
	if c.record.reason == "" { // or else the log knows more than the client
		c.record.reason = reason
	}
	c.record.result, c.record.code, c.record.took = result, code, c.now().Sub(c.started)
	c.audit.write(ctx, &c.record)
	return status.Error(code, reason)
}

// fail is for what went wrong with us: the log says what, and the client that it did.
func (c *call) fail(ctx context.Context, err error) error {
	c.record.reason = err.Error()
	return c.end(ctx, failed, codes.Internal, "failed to sign CSR")
}

// stranger answers one who has shown no token, and counts it against the source. Beyond its share a source is told so,
// loses the connection, and gets one line in the log for many.
func (c *call) stranger(ctx context.Context, result result, code codes.Code, text string) error {
	if !c.guard.table.Take(c.conn.source, limit.Failures, c.started) {
		return c.tooMany(ctx)
	}
	return c.end(ctx, result, code, text)
}

// tooMany answers one who asks too often.
func (c *call) tooMany(ctx context.Context) error {
	const text = "too many requests from this address: wait a minute"
	c.conn.hangUp()
	count, report := c.guard.table.Mute(c.conn.source, c.started)
	if !report {
		c.metrics.requests.WithLabelValues(c.record.pool, string(limited)).Inc()
		return status.Error(codes.ResourceExhausted, text)
	}
	c.record.count = count
	return c.end(ctx, limited, codes.ResourceExhausted, text)
}

// authenticate finds the token. Only a valid one gets beyond: an expired one is answered like one that never was, and
// the log alone knows whose it is.
func (c *call) authenticate(ctx context.Context) error {
	if c.conn.hungUp.Load() {
		return c.tooMany(ctx)
	}
	if c.state.Identity == nil || c.state.Tokens == nil {
		return c.end(ctx, failed, codes.Unavailable, "the signer could not read its files yet")
	}
	presented := metadata.ValueFromIncomingContext(ctx, "token")
	if len(presented) == 0 {
		return c.stranger(ctx, unauthenticated, codes.Unauthenticated, "missing token")
	}
	found, standing := c.state.Tokens.Set.Find(presented[0], c.started)
	c.token, c.record.pool, c.record.file = found, found.Pool, found.File
	if standing != token.Valid {
		c.record.reason = "token is " + string(standing)
		return c.stranger(ctx, unauthenticated, codes.Unauthenticated, "invalid token")
	}
	// Only now: what strangers behind the same address do is not counted against those with a token.
	if !c.guard.table.Take(c.conn.source, limit.Requests, c.started) {
		return c.tooMany(ctx)
	}
	return nil
}

// receive reads the message. Who does not send it in time loses the connection.
func (c *call) receive(stream grpc.ServerStream, request *securityapi.CertificateRequest) error {
	timer := time.AfterFunc(c.patience, c.conn.cut)
	defer timer.Stop()
	return stream.RecvMsg(request)
}

// answer judges a request and signs it.
func (c *call) answer(ctx context.Context, text []byte) (*securityapi.CertificateResponse, error) {
	request, err := issue.ParseRequest(text)
	if err != nil {
		return nil, c.end(ctx, malformed, codes.InvalidArgument, err.Error())
	}
	c.record.commonName, c.record.names, c.record.addresses, c.record.key = request.CommonName, request.Names, request.Addresses, request.Key
	granted, refusal := policy.Judge(c.state.Identity.Own, c.mode, c.token.Rules, policy.Asked{
		CommonName: request.CommonName, Names: request.Names, Addresses: request.Addresses, Source: c.conn.address,
	})
	if refusal != nil {
		c.metrics.refusals.WithLabelValues(string(refusal.Reason)).Inc()
		return nil, c.end(ctx, refused, codes.PermissionDenied, refusal.Error())
	}
	c.record.own = granted.Own
	if err := request.Verify(); err != nil { // trustd's code for it
		return nil, c.end(ctx, malformed, codes.Internal, "failed to sign CSR: "+err.Error())
	}
	names := issue.Names{CommonName: granted.CommonName, Names: granted.Names, Addresses: granted.Addresses}
	signed, err := c.state.Identity.Authority.Issue(request, names, c.started, c.validity)
	if err != nil {
		return nil, c.fail(ctx, err)
	}
	c.record.serial, c.record.notAfter = signed.Serial, signed.NotAfter
	_ = c.end(ctx, issued, codes.OK, "")
	c.metrics.seconds.Observe(c.record.took.Seconds())
	return &securityapi.CertificateResponse{Ca: c.state.Identity.Answer, Crt: signed.PEM}, nil
}
