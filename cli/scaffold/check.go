// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"net/netip"
	"slices"

	"minos.dev/minos/talos"
	"minos.dev/minos/talos/extension"
)

// check holds the answers against each other. What the files themselves can say is left to their own rules.
func (a *Answers) check() error {
	for _, rule := range []func() error{
		a.checkManagement, a.checkVersions, a.checkPlanes, a.checkWorkloads, a.checkHosts, a.checkEndpoint, a.checkShared, a.checkStorage,
		a.checkExtensions, a.checkBackup,
	} {
		if err := rule(); err != nil {
			return err
		}
	}
	return nil
}

// checkManagement wants a cluster for an operator to run in.
func (a *Answers) checkManagement() error {
	if a.Management == ByOperator && !a.hosted() {
		return wrong("management", "the operator runs in a management cluster: choose git or ci, or --profile hosted")
	}
	return nil
}

// checkVersions holds the two versions together.
func (a *Answers) checkVersions() error {
	if err := talos.Supports(a.Talos, a.Kubernetes); err != nil {
		return wrong("kubernetes", "%w", err)
	}
	return nil
}

// checkPlanes counts the control planes: what others depend on must survive a loss.
func (a *Answers) checkPlanes() error {
	switch named := len(a.Planes); {
	case a.hosted():
	case named > 0 && named != a.ControlPlanes:
		return wrong("control-plane", "there are %d, and --topology %s is %d: name as many, or leave --topology out", named, topologyOf(a.ControlPlanes), a.ControlPlanes)
	case a.production() && a.ControlPlanes < 3:
		return wrong("topology", "%s is a single point of failure, and this is for production: choose three, or another profile", topologyOf(a.ControlPlanes))
	}
	return nil
}

// checkWorkloads wants somewhere for workloads to run.
func (a *Answers) checkWorkloads() error {
	if !a.hosted() && !a.Workloads && len(a.workers()) == 0 {
		return wrong("worker", "there is none, and the control planes take no workloads: give --worker NAME=ADDRESS, or --workloads")
	}
	return nil
}

// checkHosts wants names and addresses of their own for all machines.
func (a *Answers) checkHosts() error {
	names, addresses := map[string]bool{}, map[netip.Addr]string{}
	all := map[string][]Host{"control-plane": a.planes(), "worker": a.workers()}
	for _, flag := range []string{"control-plane", "worker"} {
		for _, host := range all[flag] {
			if names[host.Name] {
				return wrong(flag, "two machines are called %q: rename one of them", host.Name)
			}
			names[host.Name] = true
			address, err := netip.ParseAddr(host.Address)
			if other, taken := addresses[address]; err == nil && taken {
				return wrong(flag, "%s and %s both have the address %s: give each its own", other, host.Name, host.Address)
			}
			addresses[address] = host.Name
		}
	}
	return nil
}

// checkEndpoint wants an endpoint that outlives each of several control planes.
func (a *Answers) checkEndpoint() error {
	if a.ControlPlanes < 2 {
		return nil
	}
	if host, ok := a.hostAt(a.Endpoint); ok {
		return wrong("endpoint", "%s is %s alone, and would be gone with it: give a free address that the control planes share, or a load balancer", a.Endpoint, host)
	}
	return nil
}

// hostAt is the machine that has an address.
func (a *Answers) hostAt(address string) (string, bool) {
	wanted, err := netip.ParseAddr(address)
	if err != nil {
		return "", false
	}
	for _, host := range slices.Concat(a.planes(), a.workers()) {
		if has, err := netip.ParseAddr(host.Address); err == nil && has == wanted {
			return host.Name, true
		}
	}
	return "", false
}

// checkShared wants an address that can be shared.
func (a *Answers) checkShared() error {
	if a.Link == "" {
		return nil
	}
	_, err := netip.ParseAddr(a.Endpoint)
	host, taken := a.hostAt(a.Endpoint)
	switch {
	case a.Platform == Cloud:
		return wrong("vip-link", "the network of a cloud does not carry an address that machines share: leave it out, and give a load balancer as --endpoint")
	case err != nil:
		return wrong("vip-link", "%q is a name, and only an address can be shared: give an address as --endpoint, or leave --vip-link out", a.Endpoint)
	case taken:
		return wrong("endpoint", "%s is the address of %s: a shared address must be free", a.Endpoint, host)
	}
	return nil
}

// checkStorage wants as many machines and such disks as the storage needs.
func (a *Answers) checkStorage() error {
	storage := storages[a.Storage]
	switch count := a.storageMachines(); {
	case a.hosted() && storage.disks:
		return wrong("storage", "%s wants disks of its own, and machines of a hosted cluster have one: choose another, or none", a.Storage)
	case a.production() && !a.hosted() && count < storage.machines:
		return wrong("storage", "%s keeps copies on %d machines, and there are %d: add workers, or choose another", a.Storage, storage.machines, count)
	}
	return nil
}

// checkExtensions looks extensions up, and refuses those with which a machine would never end its boot.
func (a *Answers) checkExtensions() error {
	catalogue, err := extension.Load()
	if err != nil {
		return err
	}
	for _, name := range a.Extensions {
		if err := catalogue.Check(name, a.Talos, a.Architecture); err != nil {
			return wrong("extensions", "%w", err)
		}
		if slices.Contains(guestAgents, name) && (a.Platform == Metal || a.Platform == AtEdge) {
			return wrong("extensions", "%s waits for its hypervisor, and --platform is %s: machines would never end their boot; leave it out", name, a.Platform)
		}
		found, _ := catalogue.Find(name)
		for _, service := range found.Services {
			if service.NeedsConfig {
				return wrong("extensions", "%s waits for settings that are yours to write: leave it out, and add a role such as 'minos role show gateway' afterwards", name)
			}
		}
	}
	if missing := catalogue.Missing(a.Extensions); len(missing) > 0 {
		return wrong("extensions", "%s: add it", missing[0])
	}
	return nil
}

// checkBackup wants to know why production has none.
func (a *Answers) checkBackup() error {
	switch {
	case a.Backup == "":
		return wrong("backup", "nothing is said: say how etcd is saved, or none")
	case a.Backup == None && a.BackupReason == "" && a.production():
		return wrong("backup", "none is a risk that production does not take in silence: say how etcd is saved, or why not with --backup-reason")
	}
	return nil
}
