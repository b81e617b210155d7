// SPDX-License-Identifier: Apache-2.0

// Package talhelper reads folders of talhelper (talconfig.yaml and what belongs to it) and computes the machine
// configurations that talhelper makes from them, with Talos's own machinery. It is held against the real program by tests.
//
// talhelper's order: what Talos generates; the fields of the node, with those of its group where the node has none; the
// documents for fields that Talos 1.12 moved into documents; the patches of the group and of the node; the patches of the
// cluster, which come last; and documents of other files as they are.
package talhelper
