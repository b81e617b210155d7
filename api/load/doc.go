// SPDX-License-Identifier: Apache-2.0

// Package load reads our kinds from YAML text: several documents a file, strictly, and with a place for every problem.
//
// It is strict where a person's slip would otherwise be lost: a field that no kind knows is a problem, with its line and
// the name that was probably meant. Everything else is the definitions' own judgement, by api/schema. Documents of other
// groups are none of ours and are passed over, so that a folder may hold other things too.
//
// It does no I/O: whoever calls it reads the files.
package load
