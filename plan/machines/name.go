// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"crypto/sha256"
	"encoding/binary"
)

// letters are those of the last part of a machine's name: no vowels, so that no words come out, and none that look alike.
const letters = "bcdfghjklmnpqrstvwxz2456789"

// ending is how long that part is.
const ending = 5

// name makes the name of a machine from entropy. The same entropy and number make the same name.
func name(pool string, entropy []byte, number int) string {
	seed := binary.BigEndian.AppendUint64(append([]byte(nil), entropy...), uint64(number))
	sum := sha256.Sum256(seed)
	end := make([]byte, ending)
	for at := range end {
		end[at] = letters[binary.BigEndian.Uint32(sum[4*at:])%uint32(len(letters))]
	}
	return pool + "-" + string(end)
}

// namesFor makes names that no machine has.
func namesFor(pool string, entropy []byte, count int, taken map[string]bool) []string {
	var made []string
	for number := 0; len(made) < count; number++ {
		if next := name(pool, entropy, number); !taken[next] {
			taken[next] = true
			made = append(made, next)
		}
	}
	return made
}
