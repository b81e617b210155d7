// SPDX-License-Identifier: Apache-2.0

// Package hosted decides what a cluster needs whose control plane is hosted or somebody else's: the objects of Cluster API and
// Kamaji, the signer and what it reads, what machines need inside of the cluster, the conditions, and the order in which all of
// it goes away again.
package hosted
