// SPDX-License-Identifier: Apache-2.0

// Package soak runs clusters on this machine while parts are killed, ways are cut, places misbehave and others write into what is
// ours, and holds all of it to what must never be otherwise. The story comes from a seed, what must hold from invariant; here they
// meet a real management cluster, Cluster API's own controllers and the operator's program.
package soak
