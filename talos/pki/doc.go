// SPDX-License-Identifier: Apache-2.0

// Package pki makes the secrets of a cluster, replaces them part by part, and makes short-lived credentials from them.
//
// The secrets are a bundle of Talos, in the form that talosctl writes; what a rotation has to remember stands beside it,
// under a key of our own that talosctl passes over. Keys and tokens are made by Talos's own code with randomness of its
// own: since Go 1.26 the standard library ignores a reader that it is given to make keys. Times are arguments.
package pki
