// SPDX-License-Identifier: Apache-2.0

// Package estate is the whole of Minos on this machine, part by part: a management cluster, Cluster API's controllers, the places
// in which control planes and machines are made, and the operator. What is a process in life is one here, and each part can be
// killed and started again while the others go on, at the same addresses.
//
// A folder keeps all of it: killed at any moment, it goes on when it is opened again. Nothing outlives the program that opened it.
package estate
