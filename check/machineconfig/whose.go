// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"strings"

	"minos.dev/minos/check/facts"
)

// A book finds machines by their names and addresses.
type book map[string]*facts.Machine

// newBook enters all machines that stand for one machine.
func newBook(all *facts.Facts) book {
	found := book{}
	for _, machine := range all.Machines {
		if machine.Pool != nil && machine.Host == nil {
			continue // its machines get their names when they are made
		}
		found[machine.Name] = machine
		if name := hostname(machine); name != "" {
			found[name] = machine
		}
		if machine.Host != nil {
			found[string(machine.Host.Address)] = machine
		}
		for _, address := range machine.Addresses() {
			found[address.Addr().String()] = machine
		}
	}
	return found
}

// find is the machine that one of some names or addresses is of; nil if none is.
func (b book) find(names ...string) *facts.Machine {
	for _, name := range names {
		if machine := b[name]; machine != nil && name != "" {
			return machine
		}
	}
	return nil
}

// hostname is the name that a machine gives itself by its configuration; empty if it gets one from elsewhere.
func hostname(machine *facts.Machine) string {
	if machine.Config == nil || machine.Config.NetworkHostnameConfig() == nil {
		return ""
	}
	return machine.Config.NetworkHostnameConfig().Hostname()
}

// fileOf is a file by its path; nil if there is none.
func fileOf(all *facts.Facts, path string) *facts.File {
	for _, file := range all.Files {
		if file.Path == path {
			return file
		}
	}
	return nil
}

// made says whether a name may be that of a machine which a pool makes on demand.
func made(all *facts.Facts, name string) bool {
	for _, pool := range all.Pools {
		if pool.Object.Spec.Machine.Metal == nil && (strings.HasPrefix(name, pool.Object.Name+"-") || strings.Contains(name, "-"+pool.Object.Name+"-")) {
			return true
		}
	}
	return false
}

// telling are the entries by which a machine is told from words of the language: addresses, and names that machines give themselves and
// that no word looks like.
func (b book) telling() book {
	found := book{}
	for name, machine := range b {
		own := name == hostname(machine) || name != machine.Name
		if own && strings.ContainsAny(name, "-.:0123456789") {
			found[name] = machine
		}
	}
	return found
}
