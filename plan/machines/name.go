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

// A series is the names of a pool's machines in the order in which they are made. Whoever knows the same makes the same: two who
// make a machine at the same time make one.
type series struct {
	pool    string
	entropy []byte
	next    int // the number of the next
}

// skip leaves out names that are taken, up to the next that is not.
func (s *series) skip(taken map[string]bool) {
	for taken[name(s.pool, s.entropy, s.next)] {
		s.next++
	}
}

// make makes names that no machine has.
func (s *series) make(count int, taken map[string]bool) []string {
	var made []string
	for ; len(made) < count; s.next++ {
		if one := name(s.pool, s.entropy, s.next); !taken[one] {
			taken[one] = true
			made = append(made, one)
		}
	}
	return made
}
