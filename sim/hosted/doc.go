// SPDX-License-Identifier: Apache-2.0

// Package hosted is a hosted control plane, as Kamaji and its kin run them: a real API server at an address of its own, on
// port 6443, and beside it on port 50001 the signer of this repository. A Talos machine that is given the endpoint finds
// both where it looks for them.
//
// The folder is the cluster. Started again on it, also after its power was cut, it is the same cluster with the same
// authority.
package hosted
