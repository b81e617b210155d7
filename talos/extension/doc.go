// SPDX-License-Identifier: Apache-2.0

// Package extension knows the system extensions of Talos Linux: which exist in which release and for which architecture,
// what they were renamed to, and what their services wait for. The knowledge is catalogue.json, read from the public
// repository of extensions at every release tag; what a release that is newer than the catalogue has, it can only assume.
package extension
