// SPDX-License-Identifier: Apache-2.0

// Package controlplane starts a real Kubernetes control plane on this machine: etcd, API server and controller manager,
// as one process of the program that kube/ builds. Beside it, Cluster API's own controllers can be started.
package controlplane
