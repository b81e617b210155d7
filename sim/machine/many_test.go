// SPDX-License-Identifier: Apache-2.0

package machine_test

import "testing"

// TestMany lets more machines join at once than a rack does jobs at a time.
func TestMany(t *testing.T) {
	s := newSite(t, "v1.14.1")
	s.join(s.configuration("plain", nil), 40)
}
