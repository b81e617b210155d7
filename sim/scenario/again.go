// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"time"

	"minos.dev/minos/backend"
)

// again says when a call is made again after it failed for a reason, in simulated time; false means never. A place that says
// how long to wait is asked again after that, on the real clock, by whoever calls this.
func again(reason backend.Reason, tries int) (time.Duration, bool) {
	switch reason {
	case backend.Invalid, backend.Taken:
		return 0, false
	case backend.Denied, backend.NoRoom:
		return time.Minute, true
	case backend.Unsure, backend.Unavailable, backend.TooFast, backend.Gone:
	}
	const first, longest = 2 * time.Second, time.Minute
	return min(first<<min(tries, 6), longest), true
}
