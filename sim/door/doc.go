// SPDX-License-Identifier: Apache-2.0

// Package door puts doors into the ways between the parts of an estate, on loopback, so that a way can be cut while both of its
// ends go on. A door that is shut refuses; one that is silent takes everything and says nothing, as a network does that loses all.
package door
