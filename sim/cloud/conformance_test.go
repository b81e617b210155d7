// SPDX-License-Identifier: Apache-2.0

package cloud_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"minos.dev/minos/backend/conformance"
	"minos.dev/minos/sim/cloud/cloudtest"
	"minos.dev/minos/sim/conduct"
)

// TestConformance puts the place to the suite, over HTTP: a good one, and one that is slow and late.
func TestConformance(t *testing.T) {
	some := func(milliseconds int) metav1.Duration {
		return metav1.Duration{Duration: time.Duration(milliseconds) * time.Millisecond}
	}
	behaviours := map[string]conduct.Behaviour{
		"at once":       {},
		"slow and late": {Latency: some(2), Jitter: some(10), Start: some(30), Stop: some(20), Lag: some(100)},
	}
	for name, behaviour := range behaviours {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conformance.Run(t, cloudtest.Subject(behaviour))
		})
	}
}
