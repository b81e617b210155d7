// SPDX-License-Identifier: Apache-2.0

// Package talos is pure: what Minos knows of Talos Linux, as functions from declarations to values. It has no clock, no
// randomness and no client: times, keys and facts are arguments.
package talos
