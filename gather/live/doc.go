// SPDX-License-Identifier: Apache-2.0

// Package live asks a running cluster what it is: its Nodes through Kubernetes, and resources of its machines through Talos. It reads
// only, and never a Secret.
//
// What it reads it gives in the very form in which kubectl and talosctl print it, so that a cluster that is asked now and files that
// were saved yesterday are read by one reader and lead to the same facts. Secrets are taken out before anything leaves this package.
// What could not be read is part of what it gives: no machine that is dead keeps another from being asked, and none is taken for well.
package live
