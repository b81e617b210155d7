// SPDX-License-Identifier: Apache-2.0

// Package pool brings node pools to what they declare. It finds the pool's cluster, role and place, renders the configuration of
// its machines into a Secret that is never edited, and has the machines made: virtual machines by Cluster API, all others by a
// [Direct]. Each pool stands alone: what fails in one changes nothing in another, and machines that are there stay as they are
// while something is wrong.
package pool
