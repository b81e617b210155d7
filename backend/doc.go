// SPDX-License-Identifier: Apache-2.0

// Package backend is the contract of a place: what Minos asks of anything that can make machines, and the answers that it
// understands. A new place is a folder here, a member of the unions Machine and Location, and a run of the suite in
// backend/conformance.
//
// Three sentences carry the contract:
//
//   - Whoever asks twice gets one machine. Create finds what an earlier call made, also one whose answer was lost.
//   - Gone is a fact, and everything else is not. A call that failed says nothing about an instance; a list that does not
//     show one says nothing about it either.
//   - Nothing of others is touched. Every instance carries its owner, and List, Get and Delete know no other.
package backend
