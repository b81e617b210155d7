// SPDX-License-Identifier: Apache-2.0

// Package adopt turns the folders of other tools into declarations of Minos, and proves that the machines stay as they
// were.
//
// A reader (one folder a tool) says of every machine which configuration the other tool makes, and by which steps. From
// the steps this package makes our objects: what all machines share goes to the cluster, what a pool shares to the pool,
// the rest to the host; what our kinds have words for becomes fields, and all else stays the patch that it was. Then it
// reads its own files as anybody would, renders them, and compares document by document. What could not be carried over is
// named, never dropped.
//
// All of it works on folders that nobody has to trust: files come from an fs.FS, sizes are bounded, nothing is executed and
// no network is used.
package adopt
