// SPDX-License-Identifier: Apache-2.0

// Package capi is the command `minos-kube capi`: the core controllers of Cluster API, with their webhooks, against an API
// server on the same machine.
//
// This package reads the flags and prepares what is installed; the controllers are handed to it (see [Run]), so that its
// tests link in a moment. The custom resource definitions and webhook configurations are those of the Cluster API module,
// copied into manifests/ by kube/build and embedded from there.
package capi
