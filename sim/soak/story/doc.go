// SPDX-License-Identifier: Apache-2.0

// Package story composes what happens in a soak: what people do with clusters and pools, and what goes wrong meanwhile. It is pure:
// the same seed gives the same story, round by round, so that one that ended badly can be told again.
package story
