// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"net/netip"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
)

// Root is the path of the instances in the cloud's API; one instance is at Root/<id>.
const Root = "/v1/instances"

// What the queries of the API are called.
const (
	QueryInstallation = "installation"
	QueryCluster      = "cluster"
	QueryCursor       = "cursor"
)

// UserData is how many bytes of user data an instance can have.
const UserData = 64 << 10

// Settles is how long the cloud may deny an instance that it has just made.
const Settles = 10 * time.Second

// The codes of failures.
const (
	CodeGone        = "not_found"
	CodeTaken       = "name_taken"
	CodeNoRoom      = "no_room"
	CodeTooFast     = "rate_limited"
	CodeDenied      = "unauthorized"
	CodeInvalid     = "invalid"
	CodeUnavailable = "unavailable"
	CodeUnsure      = "timeout"
)

// A Failure is the body of an answer that is not what was asked for.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// An Owner is whom an instance belongs to.
type Owner struct {
	Installation string `json:"installation"`
	Cluster      string `json:"cluster"`
}

// A Size is how large a machine is. Zero fields mean what the cloud gives to those who do not say.
type Size struct {
	CPUs      int64  `json:"cpus,omitempty"`
	MemoryMiB int64  `json:"memoryMiB,omitempty"`
	GPU       string `json:"gpu,omitempty"`
}

// An Image is what a machine boots.
type Image struct {
	URL       string `json:"url,omitempty"`
	Version   string `json:"version"`
	Schematic string `json:"schematic,omitempty"`
}

// A Wanted is the body of a call that makes an instance.
type Wanted struct {
	Owner    Owner  `json:"owner"`
	Name     string `json:"name"`
	Pool     string `json:"pool,omitempty"`
	Size     Size   `json:"size,omitzero"`
	Image    Image  `json:"image"`
	UserData []byte `json:"userData,omitempty"`
}

// A Shown is an instance in an answer. It has no user data: what is secret goes in and never comes out.
type Shown struct {
	ID         string       `json:"id"`
	Name       string       `json:"name"`
	Pool       string       `json:"pool,omitempty"`
	ProviderID string       `json:"providerID"`
	State      string       `json:"state"`
	Message    string       `json:"message,omitempty"`
	Addresses  []netip.Addr `json:"addresses,omitempty"`
	Created    time.Time    `json:"created"`
}

// A Page is a part of a list. Next is the cursor of the part that follows; empty if this is the last.
type Page struct {
	Instances []Shown `json:"instances"`
	Next      string  `json:"next,omitempty"`
}

// WantedOf is a machine in the words of the API. Its member must be that of the place.
func WantedOf(machine backend.Machine) Wanted {
	return Wanted{
		Owner: Owner(machine.Owner), Name: machine.Name, Pool: machine.Pool, Size: SizeOf(machine.Spec.Sim), UserData: machine.UserData,
		Image: Image{URL: machine.Image.URL, Version: string(machine.Image.Version), Schematic: machine.Image.Schematic},
	}
}

// Machine is what is wanted in the words of the contract.
func (w Wanted) Machine() backend.Machine {
	return backend.Machine{
		Owner: backend.Owner(w.Owner), Name: w.Name, Pool: w.Pool, Spec: api.Machine{Sim: w.Size.Machine()}, UserData: w.UserData,
		Image: backend.Image{URL: w.Image.URL, Version: api.TalosVersion(w.Image.Version), Schematic: w.Image.Schematic},
	}
}

// SizeOf is the size of a simulated machine, in whole processors and mebibytes.
func SizeOf(machine *api.SimMachine) Size {
	if machine == nil {
		return Size{}
	}
	size := Size{GPU: string(machine.GPU)}
	if machine.Resources != nil {
		size.CPUs = machine.Resources.CPU.Value()
		size.MemoryMiB = (machine.Resources.Memory.Value() + 1<<20 - 1) >> 20
	}
	return size
}

// Machine is a simulated machine of the size. One of the two fields alone gives the other what nobody asked for: the cloud
// fills it.
func (s Size) Machine() *api.SimMachine {
	machine := &api.SimMachine{GPU: api.GPUVendor(s.GPU)}
	if s.CPUs != 0 || s.MemoryMiB != 0 {
		machine.Resources = &api.Resources{
			CPU: *resource.NewQuantity(s.CPUs, resource.DecimalSI), Memory: *resource.NewQuantity(s.MemoryMiB<<20, resource.BinarySI),
		}
	}
	return machine
}

// ShownOf is an instance in the words of the API.
func ShownOf(instance backend.Instance) Shown {
	return Shown{
		ID: instance.ID, Name: instance.Name, Pool: instance.Pool, ProviderID: instance.ProviderID, State: string(instance.State),
		Message: instance.Message, Addresses: instance.Addresses, Created: instance.Created,
	}
}

// Instance is what is shown in the words of the contract.
func (s Shown) Instance() backend.Instance {
	return backend.Instance{
		ID: s.ID, Name: s.Name, Pool: s.Pool, ProviderID: s.ProviderID, State: backend.State(s.State), Message: s.Message,
		Addresses: s.Addresses, Created: s.Created,
	}
}
