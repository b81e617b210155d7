// SPDX-License-Identifier: Apache-2.0

// Package pki makes the keys and certificates of a development control plane once, and keeps them.
//
// The rules it obeys:
//   - What is absent is made. A key is written before the certificate that needs it, and every file appears whole, so a
//     process killed half way leaves something the next one completes.
//   - What is there is used. A file that cannot be read or understood is an error that names it: making a new key in its
//     place could orphan everything the old one signed.
//   - Certificates other than the authorities' are copies of a decision, not state. They are made anew when they are near
//     their end, lack a name that is asked for now, or were signed by another authority.
//
// It imports nothing of Kubernetes, so its tests link in a moment.
package pki
