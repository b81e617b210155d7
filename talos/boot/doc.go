// SPDX-License-Identifier: Apache-2.0

// Package boot says in advance how the boot of a machine ends. Talos's boot sequence waits, at its end, for every service of every
// extension of the image; a service that lacks its configuration, a file or another service waits for ever, and the machine starts
// again after [Deadline]. Nothing of that is seen in Kubernetes, where the Node may be Ready all the while.
package boot
