// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"net/netip"
	"slices"
	"time"

	wire "minos.dev/minos/backend/sim"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
)

// A record is what the books say of an instance. Methods return what they say afterwards, and change nothing themselves.
type record struct {
	ID       string      `json:"id"`
	Name     string      `json:"name"`
	Pool     string      `json:"pool,omitempty"`
	Owner    wire.Owner  `json:"owner"`
	Size     wire.Size   `json:"size"`
	Image    wire.Image  `json:"image"`
	UserData []byte      `json:"userData,omitempty"`
	Address  *netip.Addr `json:"address,omitempty"`
	Created  time.Time   `json:"created"`
	// Fails is why the instance will fail while it is made; empty if it will not.
	Fails string `json:"fails,omitempty"`
	// Changes are what it did and when, the last one last: reads that are late look further back.
	Changes []change `json:"changes"`
}

// A change is what an instance does from some time on.
type change struct {
	At      time.Time     `json:"at"`
	State   backend.State `json:"state"` // none is what was removed
	Message string        `json:"message,omitempty"`
}

// remembered is how many changes are kept. Reads are late by seconds: nothing changes that often.
const remembered = 16

// with adds a change.
func (r record) with(at time.Time, state backend.State, message string) record {
	changes := append(slices.Clone(r.Changes), change{At: at, State: state, Message: message})
	r.Changes = changes[max(0, len(changes)-remembered):]
	return r
}

// last is what the instance does.
func (r record) last() change {
	if len(r.Changes) == 0 {
		return change{}
	}
	return r.Changes[len(r.Changes)-1]
}

// at is what it did at a time; nothing if it was not there yet.
func (r record) at(moment time.Time) change {
	for _, change := range slices.Backward(r.Changes) {
		if !change.At.After(moment) {
			return change
		}
	}
	return change{}
}

// isLeaving says whether it is being deleted, or gone.
func (r record) isLeaving() bool {
	state := r.last().State
	return state == backend.Deleting || state == ""
}

// providerID is what its Node says of the place.
func (r record) providerID() string { return "sim:///" + r.ID }

// belongs says whether the instance is an owner's.
func (r record) belongs(owner backend.Owner) bool { return backend.Owner(r.Owner) == owner }

// instance is the record as it is shown, without what is secret.
func (r record) instance(shown change) backend.Instance {
	instance := backend.Instance{
		ID: r.ID, Name: r.Name, Pool: r.Pool, ProviderID: r.providerID(), State: shown.State, Message: shown.Message, Created: r.Created,
	}
	if r.Address != nil {
		instance.Addresses = []netip.Addr{*r.Address}
	}
	return instance
}

// devices are what its graphics processor brings that a service of an extension waits for.
func (r record) devices() []string {
	if r.Size.GPU == string(api.GPUNVIDIA) {
		return []string{"/sys/bus/pci/drivers/nvidia"}
	}
	return nil
}
