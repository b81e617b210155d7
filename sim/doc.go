// SPDX-License-Identifier: Apache-2.0

// Package sim is machines and places that speak the real protocols without hardware, and the environment in which Minos
// is developed, tested and rehearsed.
package sim
