// SPDX-License-Identifier: Apache-2.0

// Package dev is the command `minos-kube dev`: a Kubernetes control plane for development, in one process, that keeps
// everything in one directory and listens on the loopback address only.
//
// This package reads the flags, owns the directory and says when the plane is ready. The plane itself is handed to it
// (see [Run]), so that the tests of all this link in a moment and need no Kubernetes.
//
// The directory holds:
//
//	lock         held by the process that uses the directory; contains its pid
//	pki/         keys and certificates, made once
//	etcd/        the data
//	kubeconfig   the administrator's access, written at each start since the port may differ
//	log.txt      what the components say; the previous file is log.old.txt
package dev
