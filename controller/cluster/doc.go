// SPDX-License-Identifier: Apache-2.0

// Package cluster brings TalosClusters to what they declare, whose control plane is hosted by Kamaji or is somebody else's: their
// identity, the objects of Cluster API and Kamaji, the signer, and what machines need inside of them. It decides nothing: plan/hosted
// does.
package cluster
