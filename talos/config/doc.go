// SPDX-License-Identifier: Apache-2.0

// Package config makes machine configurations, by layers: what Talos's own machinery generates for the version, then the
// cluster's, the location's, the role's and the pool's layer, and for metal that of the one machine. Documents are opaque:
// they are merged by Talos's own patcher and judged by Talos's own validation, and no field of theirs is mirrored here
// beyond those that our kinds have words for.
//
// What makes a machine join the right cluster belongs to the generated layer alone. A patch that touches it is refused,
// with its path and the reason, whichever layer it comes from.
package config
