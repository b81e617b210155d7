// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"bytes"
	"slices"
)

// An Image is a Talos that can be booted.
type Image struct {
	// Reference is the installer image that it came from; empty for a disk image.
	Reference string `json:"reference,omitempty"`
	// Version is the release, for example v1.14.1.
	Version string `json:"version"`
	// Schematic is the identity of the schematic; empty if the image came from no factory.
	Schematic string `json:"schematic,omitempty"`
	// Extensions are the names of the system extensions in it, without "siderolabs/".
	Extensions []string `json:"extensions,omitempty"`
}

// Equal says whether two images are the same.
func (i Image) Equal(other Image) bool {
	return i.Reference == other.Reference && i.Version == other.Version && i.Schematic == other.Schematic &&
		slices.Equal(i.Extensions, other.Extensions)
}

// Content is all that a machine keeps when its power is cut. Methods return what is on the disk afterwards, and change
// nothing themselves.
type Content struct {
	// Slots are A and B: an upgrade writes the one that does not run.
	Slots [2]*Image `json:"slots"`
	// Active is the slot that boots.
	Active int `json:"active"`
	// Unproven says that the active slot has never ended a boot: a boot that fails goes back to the other slot.
	Unproven bool `json:"unproven,omitempty"`
	// Staged is the installer image that is installed with the next boot.
	Staged string `json:"staged,omitempty"`
	// Config is the machine configuration in STATE. While there is one, user data is not looked at.
	Config []byte `json:"config,omitempty"`
	// Identity is the machine's own name for itself, made with its first boot; the hostname may come from it.
	Identity string `json:"identity,omitempty"`
	// Kubelet is what the kubelet keeps.
	Kubelet KubeletFiles `json:"kubelet,omitzero"`
	// Serving is the key and the certificate that the kubelet serves with, if it is configured to ask for one.
	Serving KubeletFiles `json:"serving,omitzero"`
	// Boots counts.
	Boots int `json:"boots,omitempty"`
	// Off says that the machine was shut down, and stays so until its power is switched on.
	Off bool `json:"off,omitempty"`
}

// KubeletFiles are the kubelet's key, which is written before its certificate is asked for, and the certificate.
type KubeletFiles struct {
	Key         []byte `json:"key,omitempty"`
	Certificate []byte `json:"certificate,omitempty"`
}

// Running is the image that boots; false if there is none.
func (c Content) Running() (Image, bool) {
	if c.Slots[c.Active] == nil {
		return Image{}, false
	}
	return *c.Slots[c.Active], true
}

// Install writes an image to the slot that does not run and makes it the one that boots.
func (c Content) Install(image Image) Content {
	_, first := c.Running()
	if first {
		c.Active = 1 - c.Active
	}
	c.Slots[c.Active] = &image
	c.Unproven = first // there is nothing to go back to after the first
	c.Staged = ""
	return c
}

// Revert makes the other slot the one that boots. It says no where there is nothing in it.
func (c Content) Revert() (Content, bool) {
	if c.Slots[1-c.Active] == nil {
		return c, false
	}
	c.Active, c.Unproven = 1-c.Active, false
	return c, true
}

// Fail is what is left by a boot that did not end: Talos goes back to the other slot only if this one never ended a boot.
func (c Content) Fail() (Content, bool) {
	if !c.Unproven {
		return c, false
	}
	return c.Revert()
}

// Prove is what is left by a boot that ended.
func (c Content) Prove() Content {
	c.Unproven = false
	return c
}

// PowerOn counts a boot and gives the machine its identity if it has none.
func (c Content) PowerOn(identity string) Content {
	c.Boots++
	c.Off = false
	if c.Identity == "" {
		c.Identity = identity
	}
	return c
}

// Configure keeps a configuration.
func (c Content) Configure(text []byte) Content {
	c.Config = bytes.Clone(text)
	return c
}

// The partitions that a reset can be asked to wipe alone.
const (
	partitionState     = "STATE"
	partitionEphemeral = "EPHEMERAL"
)

// Wipe is what is left by a reset: of named partitions, or of the whole disk when none is named.
func (c Content) Wipe(partitions []string) Content {
	if len(partitions) == 0 {
		return Content{Boots: c.Boots}
	}
	if slices.Contains(partitions, partitionState) {
		c.Config, c.Identity = nil, ""
	}
	if slices.Contains(partitions, partitionEphemeral) {
		c.Kubelet, c.Serving = KubeletFiles{}, KubeletFiles{}
	}
	return c
}
