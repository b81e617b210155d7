// SPDX-License-Identifier: Apache-2.0

// Package invariant says what must never be otherwise, whatever goes wrong, over snapshots of the management cluster, of the tenants
// and of the places. It is pure: what was seen goes in, and what is wrong with it, with the evidence, comes out.
package invariant
