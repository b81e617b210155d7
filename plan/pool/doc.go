// SPDX-License-Identifier: Apache-2.0

// Package pool decides what is the same for the pools of all places: whether the role and the place may be used, how many machines
// are granted, what a roll-out may disturb, and what the status says of it in words.
package pool
