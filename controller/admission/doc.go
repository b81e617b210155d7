// SPDX-License-Identifier: Apache-2.0

// Package admission refuses at the door what the schema cannot say no to: a cluster that still has pools and is to be deleted, a
// place that a namespace may not use, a second gateway, a patch that would break the join.
//
// It is a courtesy: whoever makes a mistake hears of it at once. With the webhook away every promise still holds, by finalizers
// and by what the controllers refuse to do; so the API server goes on without it.
package admission
