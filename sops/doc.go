// SPDX-License-Identifier: Apache-2.0

// Package sops reads and writes the file format of SOPS for YAML, with age as the only kind of key.
//
// It is our own because the library of SOPS links the client of every cloud; the program itself is what the tests hold
// it against, in both directions. What we do not know (PGP, key services, key groups) is refused by its name.
//
// How a file looks: every value is replaced by ENC[AES256_GCM,data:…,iv:…,tag:…,type:…], bound to the keys that lead to
// it; so is every line of a comment. Keys stay readable. A block "sops" at the end of each document holds the data key,
// encrypted for each recipient, and a checksum over all values in their order. JSON is YAML too, and is read as such.
//
// What the format does not notice, here as in SOPS itself: values that are empty or null, and empty lists and mappings,
// can be added and removed, because the checksum is over the bytes of values. Comments are not part of it either. And
// age has no sender: whoever knows a recipient can write a file for it.
package sops
