// SPDX-License-Identifier: Apache-2.0

// Package trust is the signer that Talos workers ask for the certificate of their API, in the place of trustd where the
// control plane does not run on Talos. It speaks trustd's protocol, and imports nothing of ours outside of this room.
//
// The room from the inside out: policy (which names a machine may have), token (who may ask), issue (what a certificate
// is) and limit (who has to wait) decide and do no I/O. state reads files and keeps them while they change, serve speaks
// to the network, command reads flags. This package puts them together.
package trust
