// SPDX-License-Identifier: Apache-2.0

// Package kubevirt is a double of KubeVirt and of its Cluster API provider. It fulfils Cluster API's contract for
// infrastructure on real KubevirtMachine and KubevirtCluster objects, with simulated machines in place of virtual ones.
//
// What it keeps is in two places that survive it: the objects in the API server, and a folder with the machines' disks by the
// identity of their object. So it can be killed at any moment and started again.
//
// What decides is pure: what a template says of a machine (template.go), and what is told of it (report.go). The rest watches
// objects and puts machines into a rack.
package kubevirt
