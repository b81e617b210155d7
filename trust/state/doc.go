// SPDX-License-Identifier: Apache-2.0

// Package state is what the signer knows, read from files and kept while they change.
//
// There are two parts. The identity is the issuing authority, the accepted ones and the serving certificate; the tokens
// are a folder of files. Each part is read whole, checked whole and swapped whole: a request sees all of the old or all of
// the new. A part that cannot be used leaves the one before in place, and leaves the other part alone: a typing error in
// a token must not, weeks later, let the serving certificate expire.
//
// Files are looked at every few seconds rather than watched. Kubernetes changes a mounted Secret by turning a link, other
// systems by other means, and a watch on a folder that was unmounted is silent for ever; a look costs a few system calls
// and always sees what is there.
package state
