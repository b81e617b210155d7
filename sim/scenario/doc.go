// SPDX-License-Identifier: Apache-2.0

// Package scenario rehearses: it takes declarations and a scenario, brings a cluster and a simulated place up on this machine,
// makes the machines of the pools there, lets happen what the scenario says, and judges whether what was expected came true.
//
// What a scenario says (scenario.go), what is expected of machines (judge.go) and when a call is made again (again.go) is pure.
// The rest keeps time, writes down how far it got, and talks to the real parts. It can be killed at any moment: played again on
// the same folder, it goes on.
package scenario
