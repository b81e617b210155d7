// SPDX-License-Identifier: Apache-2.0

package cloud_test

import (
	"testing"
	"time"

	"minos.dev/minos/backend"
	"minos.dev/minos/sim/cloud"
	"minos.dev/minos/sim/conduct"
)

// TestAClockThatJumps has the cloud's clock be wrong: it says so of when instances were made, and denies none.
func TestAClockThatJumps(t *testing.T) {
	options, _ := newWorld(t, conduct.Behaviour{}).options()
	ahead := time.Duration(0)
	options.Stamp = func() time.Time { return time.Now().Add(ahead) }
	opened, err := cloud.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(opened.Close)
	first := create(t, opened, "one")
	ahead = -time.Hour
	second := create(t, opened, "two")
	if before := first.Created.Sub(second.Created); before < 50*time.Minute {
		t.Errorf("the second is said to be made %s before the first, want about an hour", before)
	}
	for _, made := range []backend.Instance{first, second} {
		if _, err := opened.Get(t.Context(), owner, made.ID); err != nil {
			t.Errorf("instance %s: %v", made.Name, err)
		}
	}
}
