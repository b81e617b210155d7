// SPDX-License-Identifier: Apache-2.0

// Package dev is the development environment: everything of Minos on this machine, with a tenant's cluster in it, and stories of
// what can go wrong. It tells what happens and decides what is expected; how that is shown is left to whoever calls.
package dev
