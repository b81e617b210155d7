// SPDX-License-Identifier: Apache-2.0

package machine_test

import "testing"

// TestMany lets more machines join at once than a rack lets ask to be signed at the same time, which are 64.
func TestMany(t *testing.T) {
	s := newSite(t, "v1.14.1")
	s.join(s.configuration("plain", nil), 70)
}
