// SPDX-License-Identifier: Apache-2.0

// Package cluster is a cluster that simulated machines can join: a real API server at an address of its own, our signer beside
// it, and what an operator brings: the cluster's secrets, a bootstrap token, and the configuration of every machine that a set
// of declarations names.
//
// The secrets are made for the simulation and are never those of a real cluster. A folder keeps all, so that a cluster that was
// killed goes on when it is opened again.
package cluster
