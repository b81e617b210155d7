// SPDX-License-Identifier: Apache-2.0

package kamaji

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Faults are what is wrong with a control plane. The zero value is a healthy one.
type Faults struct {
	// Latency is how long a control plane that runs is not ready yet, and how long the roll-out of a version takes.
	Latency time.Duration
	// Hold keeps it from getting ready, and a roll-out from ending.
	Hold bool
	// ServerDown ends its API server, as a power cut would, and keeps it down. It takes the signer with it.
	ServerDown bool
	// SignerDown stops its signer and keeps it down.
	SignerDown bool
}

// Break sets what is wrong with one control plane, at once and until it is set again.
func (k *Kamaji) Break(key types.NamespacedName, faults Faults) {
	k.mutex.Lock()
	k.faults[key] = faults
	k.mutex.Unlock()
	select {
	case k.nudge <- struct{}{}:
	default: // it will look anyway
	}
}

// faultsOf is what is wrong with a control plane.
func (k *Kamaji) faultsOf(key types.NamespacedName) Faults {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if own, ok := k.faults[key]; ok {
		return own
	}
	return k.options.Faults
}
