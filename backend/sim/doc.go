// SPDX-License-Identifier: Apache-2.0

// Package sim is the place whose machines are simulated: a client of the HTTP API that the simulated cloud serves, as
// other places are clients of theirs. It is held to the same contract, and knows the cloud by its answers only.
//
// What the two say to each other is in wire.go: the cloud imports it from here.
package sim
