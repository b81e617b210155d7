// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"
	"net/netip"
	"time"

	api "minos.dev/minos/api/v1alpha1"
)

// A Place makes machines in one location, with the credentials of that location. Its methods may be called at the same
// time, return soon after their context ends, and fail with an [Error] that says what the failure means.
type Place interface {
	// Traits are what callers must know of the place. They never change.
	Traits() Traits
	// Create makes an instance, or returns the one that an earlier call for the same machine made. It may return before
	// the instance runs. A name that another owner has is [Taken]. While an instance of the name is being deleted, Create
	// fails with [Unavailable]: what it would return will be gone.
	Create(ctx context.Context, wanted Machine) (Instance, error)
	// Get returns an instance of the owner. It fails with [Gone] only if the place itself says that there is none.
	Get(ctx context.Context, owner Owner, id string) (Instance, error)
	// List returns the instances of the owner, also those that are being deleted. One that is missing may exist: a place may
	// take a while to show it. Only Get says that one is gone.
	List(ctx context.Context, owner Owner) ([]Instance, error)
	// Delete has an instance removed, with everything that Create made for it. It returns when that is asked for, and also
	// when there is nothing to remove.
	Delete(ctx context.Context, owner Owner, id string) error
}

// Traits are what differs between places and matters to callers.
type Traits struct {
	// Member is the member of the unions that the place serves.
	Member api.Member
	// UserData is how many bytes of user data fit; more are [Invalid].
	UserData int
	// Settles is how long a place may deny an instance that it has just made. A younger one that is [Gone] may not be.
	Settles time.Duration
}

// An Owner is whom instances belong to: a cluster in one installation of Minos. Places write it to the instance.
type Owner struct {
	// Installation tells one Minos from another that uses the same account.
	Installation string
	// Cluster is the cluster's identity, which a cluster of the same name that is made later does not have.
	Cluster string
}

// A Machine is an instance that is wanted.
type Machine struct {
	// Owner is whom it belongs to.
	Owner Owner
	// Name is its name, and its Node's: a label of DNS that is unique in the place.
	Name string
	// Pool is the pool that it belongs to.
	Pool string
	// Spec is the pool's machine, whose member is that of the place.
	Spec api.Machine
	// Image is what it boots.
	Image Image
	// UserData is its machine configuration. It is secret: it never shows in an Instance, in an error or in a log.
	UserData []byte
}

// An Image is what a machine boots, in the words that places need.
type Image struct {
	// URL is where the disk image is.
	URL string
	// Version is the release of Talos in it.
	Version api.TalosVersion
	// Schematic is the identity of what is in it.
	Schematic string
}

// An Instance is what a place says of a machine.
type Instance struct {
	// ID is its name in the place's own words.
	ID string
	// Name is the name that was wanted.
	Name string
	// Pool is the pool that was wanted.
	Pool string
	// ProviderID is what its Node has as spec.providerID.
	ProviderID string
	// State is what it does.
	State State
	// Message says why, where the place knows.
	Message string
	// Addresses are its own, the one to use first.
	Addresses []netip.Addr
	// Created is when it was made.
	Created time.Time
}

// A State is what an instance does.
type State string

// The states of an instance.
const (
	// Creating: the place works on it.
	Creating State = "Creating"
	// Running: it has power. That says nothing about what runs in it.
	Running State = "Running"
	// Stopped: it has no power, and could have.
	Stopped State = "Stopped"
	// Failed: the place has given it up; a new one is needed.
	Failed State = "Failed"
	// Deleting: it will be gone.
	Deleting State = "Deleting"
)
