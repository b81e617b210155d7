// SPDX-License-Identifier: Apache-2.0

// Package proof compares the machine configurations of another tool with ours, machine by machine and value by value. What
// is written differently and means the same to Talos is recognised by a few rules, each with its reason; all else is a
// difference.
package proof
