// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"minos.dev/minos/sim/conduct"
	"minos.dev/minos/sim/soak/story"
)

// behaviour is how a place behaves that misbehaves in a manner. Times are simulated ones.
func behaviour(manner string) conduct.Behaviour {
	of := func(d time.Duration) metav1.Duration { return metav1.Duration{Duration: d} }
	switch manner {
	case story.Slow:
		return conduct.Behaviour{Latency: of(30 * time.Second), Jitter: of(time.Minute)}
	case story.SlowDisks:
		return conduct.Behaviour{Start: of(6 * time.Minute), Stop: of(2 * time.Minute)}
	case story.Late:
		return conduct.Behaviour{Lag: of(2 * time.Minute)}
	case story.Few:
		return conduct.Behaviour{Quota: 2}
	case story.Busy:
		return conduct.Behaviour{Rate: 0.03, Burst: 1}
	}
	fault := conduct.Fault{Kind: conduct.Kind(manner), Share: 0.5}
	switch fault.Kind {
	case conduct.Revokes, conduct.Full:
		fault.Share = 0 // always
	}
	return conduct.Behaviour{Faults: []conduct.Fault{fault}}
}
