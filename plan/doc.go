// SPDX-License-Identifier: Apache-2.0

// Package plan decides what to do next, and why: what is wanted, what was seen and the time go in, objects, actions and
// conditions come out. It does nothing itself: no clock, no client, no randomness. The command line prints what the operator
// would do because both ask the same functions.
package plan
