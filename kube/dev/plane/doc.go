// SPDX-License-Identifier: Apache-2.0

// Package plane runs etcd, kube-apiserver and kube-controller-manager in one process.
//
// The components are started through their option types rather than their commands: a command catches signals, which
// a process can do only once, and exits when it pleases. Each gets a context of its own, so that they are stopped in
// order: first who writes, then the API server, and the store last.
package plane
