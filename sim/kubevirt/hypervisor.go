// SPDX-License-Identifier: Apache-2.0

package kubevirt

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"sync"

	"github.com/siderolabs/talos/pkg/machinery/constants"

	"minos.dev/minos/sim/machine"
)

// A hypervisor runs the machines of KubevirtMachine objects, each known by the object's identity.
type hypervisor struct {
	options Options

	mutex sync.Mutex
	// dead are machines that were killed, and stay so until their power is switched on.
	dead map[string]bool
}

// nameOf is what a machine is called in the rack and in the books: unique among all namespaces.
func nameOf(namespace, name string) string { return namespace + "/" + name }

// A vm is a machine to run.
type vm struct {
	namespace, name, identity string
	guest                     guest
	userData                  []byte
}

// ensure has a machine running. One that runs already is left alone.
func (h *hypervisor) ensure(wanted vm) (*machine.Machine, error) {
	name := nameOf(wanted.namespace, wanted.name)
	if found := h.options.Rack.Machine(name); found != nil {
		return found, nil
	}
	booted, err := h.options.Factory.Image(fmt.Sprintf("factory/%s:%s", wanted.guest.image.Schematic, wanted.guest.image.Version))
	if err != nil {
		return nil, err
	}
	booted.Reference = "" // a disk image, and no installer
	disk := machine.NewMemory(booted)
	if h.options.Folder != "" {
		if disk, err = machine.NewFolder(h.folder(wanted.identity), booted); err != nil {
			return nil, err
		}
	}
	options := machine.Options{
		Name: name, Hostname: wanted.name, Disk: disk, Platform: wanted.guest.image.Platform,
		Architecture: string(wanted.guest.image.Architecture), CPUs: wanted.guest.cpus, MemoryMiB: wanted.guest.memoryMiB, Devices: wanted.guest.devices,
	}
	if wanted.guest.image.Platform == configDrive {
		options.UserData = wanted.userData
	}
	own, err := h.address(name)
	if err != nil {
		return nil, err
	}
	options.Addresses = []netip.Addr{own}
	if h.options.Addresses != nil {
		options.Listen = netip.AddrPortFrom(own, constants.ApidPort).String()
	}
	return h.options.Rack.Add(options)
}

// address is a machine's own.
func (h *hypervisor) address(name string) (netip.Addr, error) {
	if h.options.Addresses == nil {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), nil
	}
	return h.options.Addresses.Take(name)
}

// remove takes a machine out, with all that it has. What is gone already is no error.
func (h *hypervisor) remove(namespace, name, identity string) error {
	whole := nameOf(namespace, name)
	h.options.Rack.Remove(whole)
	h.setDead(whole, false)
	var failed []error
	if h.options.Folder != "" {
		failed = append(failed, os.RemoveAll(h.folder(identity)))
	}
	if h.options.Addresses != nil {
		failed = append(failed, h.options.Addresses.Give(whole))
	}
	return errors.Join(failed...)
}

// folder is a machine's disk.
func (h *hypervisor) folder(identity string) string { return filepath.Join(h.options.Folder, identity) }

// isDead says whether a machine was killed.
func (h *hypervisor) isDead(name string) bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.dead[name]
}

func (h *hypervisor) setDead(name string, dead bool) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if dead {
		h.dead[name] = true
	} else {
		delete(h.dead, name)
	}
}
