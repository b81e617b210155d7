// SPDX-License-Identifier: Apache-2.0

// Package limit keeps one source from taking what belongs to all. It holds two things in bounded memory: a Table of what
// each source did lately, and a Gate through which connections come. Neither has a clock, and neither knows the network.
//
// Two rules run through both. Nobody is punished for what a neighbour does: many workers share an address behind NAT, so
// the only thing that a source can lose is its share. And the newcomer wins against the greedy: a connection that hangs
// makes room for one that has only come, so that filling the signer with silence does not close it.
package limit
