// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"maps"
	"slices"

	api "minos.dev/minos/api/v1alpha1"
)

// cniNames are the pod networks, the simplest first.
var cniNames = []string{"flannel", "cilium", "calico", None}

var cniProviders = map[string]api.CNIProvider{
	"flannel": api.CNIFlannel, "cilium": api.CNICilium, "calico": api.CNICalico, None: api.CNINone,
}

// A storage is what a way of keeping data needs of the machines that keep it.
type storage struct {
	// role is the built-in role of workers that has it all; empty is plain.
	role api.Name
	// The rest is what a machine of another role needs: extensions, modules, kernel settings and labels.
	extensions []string
	modules    []api.KernelModule
	sysctls    map[string]string
	labels     map[string]string
	// volume is the name of the volume that holds the data, if it is a folder of the machine.
	volume string
	// disks says that it takes whole disks, which must be empty.
	disks bool
	// machines is how many it keeps copies on.
	machines int
	// answer and reason are for the record, and todo is what remains to be done by hand.
	answer, reason, todo string
}

var storages = map[string]storage{
	None: {
		answer: "none", reason: "Workloads keep nothing here: databases and files are services from elsewhere.",
	},
	"local-path": {
		volume: "local-path", answer: "local path provisioner",
		reason: "The simplest that works: data is a folder on one machine, without copies, and is lost with that machine.",
		todo:   "install the local path provisioner with the path /var/mnt/local-path",
	},
	"longhorn": {
		role: "storage", extensions: []string{"iscsi-tools", "util-linux-tools"}, volume: "longhorn", machines: 3,
		answer: "Longhorn", reason: "Copies of every volume on several machines, at the price of some memory and of the network's speed.",
		todo: "install Longhorn with defaultSettings.defaultDataPath=/var/mnt/longhorn, in a namespace that allows privileged pods",
	},
	"rook-ceph": {
		disks: true, machines: 3,
		answer: "Rook-Ceph", reason: "Distributed storage for much data, at the price of resources and of people who know it.",
		todo: "install Rook, and let it take an empty disk of each machine (useAllDevices, or names): Talos's own disk is never empty",
	},
	"mayastor": {
		modules: []api.KernelModule{{Name: "nvme_tcp"}}, sysctls: map[string]string{"vm.nr_hugepages": "1024"},
		labels: map[string]string{"openebs.io/engine": "mayastor"}, volume: "openebs", disks: true, machines: 3,
		answer: "OpenEBS Mayastor", reason: "Fast copies over NVMe, at the price of two cores and 2 GiB of huge pages on each machine.",
		todo: "install OpenEBS with its local path at /var/mnt/openebs, in a namespace that allows privileged pods, and give each machine's empty NVMe disk to a DiskPool",
	},
	"nfs": {
		extensions: []string{"nfs-utils"},
		answer:     "external NFS", reason: "A server that exists already; it is a single point of failure, and its redundancy is its own matter.",
		todo: "install the NFS CSI driver with the address of the server, and note how the server is kept alive",
	},
	"linstor": {
		role: "compute", extensions: []string{"drbd", "zfs"}, disks: true, machines: 3,
		modules: []api.KernelModule{{Name: "drbd", Parameters: []string{"usermode_helper=disabled"}}, {Name: "zfs"}},
		answer:  "LINSTOR (DRBD and ZFS)", reason: "Copies by the kernel, close to the speed of the disks, at the price of kernel modules that must fit each Talos release.",
		todo: "install the Piraeus operator, and give it an empty disk of each machine",
	},
}

// storageNames are the ways of keeping data, the simplest first.
func storageNames() []string {
	simplest := []string{None, "local-path"}
	rest := slices.DeleteFunc(slices.Sorted(maps.Keys(storages)), func(name string) bool { return slices.Contains(simplest, name) })
	return append(simplest, rest...)
}

// storesOnPlanes says whether control planes keep data: where workloads run, data is.
func (a *Answers) storesOnPlanes() bool { return a.Workloads && !a.hosted() }

// storageMachines is how many machines keep data.
func (a *Answers) storageMachines() int {
	count := len(a.workers())
	if a.storesOnPlanes() {
		count += a.ControlPlanes
	}
	return count
}
