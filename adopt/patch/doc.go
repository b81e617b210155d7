// SPDX-License-Identifier: Apache-2.0

// Package patch treats machine configurations as data: documents that are told apart by kind and name, changed by Talos's
// own patcher, and compared. From two configurations it computes the strategic patch that leads from one to the other, and
// it knows of two patches whether their order matters.
package patch
