// SPDX-License-Identifier: Apache-2.0

// Package serve speaks trustd's protocol: one call of one gRPC service over TLS. It is a thin shell: who may ask is
// decided by trust/token, what a machine may be called by trust/policy, what a certificate is by trust/issue, and who has
// to wait by trust/limit.
//
// A request passes in this order, the cheap before the dear and the stranger before the guest: a place at the gate, a
// handshake, the source's share of requests, the token, and only then is a message read; then the names, the signature of
// the request, and ours. Each request leaves one line in the audit log.
package serve
