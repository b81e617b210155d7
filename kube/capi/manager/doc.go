// SPDX-License-Identifier: Apache-2.0

// Package manager runs the core controllers of Cluster API in this process.
//
// Cluster API's own main binds its webhooks to every address of the machine and wants certificates from elsewhere, so the
// manager is put together here: webhooks on a listener that is already bound to the loopback address, certificates made
// at the start, and no metrics or health server at all.
package manager
