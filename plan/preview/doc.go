// SPDX-License-Identifier: Apache-2.0

// Package preview foretells what a change of declarations does to the machines of a pool, before it is made: how many are
// replaced, how many of them at a time, how many are changed while they run, and because of which fields. It asks the plans by
// which the controllers act, with placeholders for all secrets, and has no opinion of its own about what rolls a machine.
package preview
