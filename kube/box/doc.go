// SPDX-License-Identifier: Apache-2.0

// Package box makes one program out of many: it picks a command by the name the program was called with or by its
// first argument, explains itself, and says when to stop.
//
// It imports nothing of Kubernetes, so its tests link in a moment.
package box
