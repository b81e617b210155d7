// SPDX-License-Identifier: Apache-2.0

// Package topf reads and writes folders of topf: topf.yaml, and patches in folders for all machines, for a role and for one
// machine. It computes the machine configurations that topf makes from them, with Talos's own machinery.
//
// topf's order: what Talos generates; the installer image; then the patches of all/, of control-plane/ or worker/, and of
// node/HOST/, each folder in the order of names, each document a patch of its own.
package topf
