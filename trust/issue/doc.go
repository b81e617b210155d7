// SPDX-License-Identifier: Apache-2.0

// Package issue turns a request into a certificate, with the profile of Talos's own trustd: server authentication and
// nothing else. It reads no file and no clock; chance is in it, for serial numbers and signatures.
//
// The profile is made of what is written here and never of what was asked: of a request, only the public key is taken
// over, and the names that a policy has granted. CVE-2022-36103 was a signer that took over more.
package issue
