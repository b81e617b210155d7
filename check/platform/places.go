// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"k8s.io/apimachinery/pkg/api/resource"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// housed are platforms that are no cloud: nobody there has a controller for them.
var housed = []string{"metal", "nocloud", "openstack", "vmware", ""}

// controller wants it to be said whether a cloud controller is wanted.
func controller(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		if machine.Config == nil || slices.Contains(housed, of(machine)) {
			continue
		}
		own := machine.Config.Cluster()
		declared := own != nil && own.ExternalCloudProvider() != nil && own.ExternalCloudProvider().Enabled()
		if declared || machine.Notes[facts.NoteCloudController] != "" {
			sheet.Pass(machine.At("cluster.externalCloudProvider"))
			continue
		}
		sheet.Fail(machine.At("cluster.externalCloudProvider"), "%s is in the cloud %s, and nobody says whether a cloud controller is wanted", machine.Name, of(machine))
	}
}

// hetzner wants virtual IPs of the Hetzner cloud to be made for it.
func hetzner(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		if machine.Config == nil || of(machine) != "hcloud" || len(machine.VirtualIPs()) == 0 {
			continue
		}
		if ownCloud(machine) {
			sheet.Pass(machine.At("machine.network"))
			continue
		}
		sheet.Fail(machine.At("machine.network"), "%s is in the Hetzner cloud and announces the virtual IP %s, which its networks do not pass on", machine.Name, machine.VirtualIPs()[0])
	}
}

// ownCloud says whether the virtual IPs of a machine are moved by the interface of the Hetzner cloud.
func ownCloud(machine *facts.Machine) bool {
	for _, virtual := range machine.Config.NetworkVirtualIPConfigs() {
		if _, ok := virtual.(config.NetworkHCloudVIPConfig); !ok {
			return false
		}
	}
	if own := machine.Config.Machine(); own != nil && own.Network() != nil {
		for _, device := range own.Network().Devices() {
			if device.VIPConfig() != nil && device.VIPConfig().HCloud() == nil {
				return false
			}
		}
	}
	return true
}

// excused wants a small cluster to have a backup.
func excused(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		small := slices.Contains([]api.Environment{api.EnvironmentEdge, api.EnvironmentDevelopment, api.EnvironmentHomelab}, cluster.Environment)
		switch {
		case !cluster.OnTalos() || !small || facts.Count(cluster.ControlPlanes()) > 2:
		case cluster.HasBackup():
			sheet.Pass(cluster.At("spec.environment"))
		default:
			sheet.Fail(cluster.At("spec.environment"), "cluster %s does not survive the loss of its control plane, and nobody says how it is backed up", cluster.Title())
		}
	}
}

// foreign wants machines with another system to be known as such.
func foreign(all *facts.Facts, sheet *rule.Sheet) {
	for _, node := range all.Live.Nodes {
		system := node.String("status.nodeInfo.osImage")
		if system == "" || strings.HasPrefix(system, "Talos") {
			continue
		}
		labels, _ := node.Get("metadata.labels").(map[string]any)
		if facts.Text(labels["check.minos.dev/foreign-node"]) != "" {
			sheet.Pass(node.At("metadata.labels"))
			continue
		}
		sheet.Fail(node.At("metadata.labels"), "Node %s runs %s, and nobody says whose it is", node.Name(), system)
	}
}

// drive wants machines of KubeVirt to have an image that reads a config drive.
func drive(all *facts.Facts, sheet *rule.Sheet) {
	for _, pool := range all.Pools {
		place := pool.Location.KubeVirt
		if place == nil {
			continue
		}
		if place.Image == nil || place.Image.URL == "" {
			sheet.Pass(pool.At("spec.locationRef"))
			continue
		}
		file := path.Base(string(place.Image.URL))
		if strings.Contains(file, "openstack") || strings.Contains(file, "nocloud") {
			sheet.Pass(pool.At("spec.locationRef"))
			continue
		}
		sheet.Fail(pool.At("spec.locationRef"), "pool %s boots %s, which is not an image of openstack or nocloud", pool.Object.Name, file)
	}
}

// A size is how large a machine is.
type size struct{ cores, memory, disk float64 } // memory and disk in GiB; 0 means that it is not known

// The sizes below which a machine does not work, and below which it should not be in production.
var (
	least       = map[bool]size{true: {2, 2, 10}, false: {1, 1, 10}}
	recommended = map[bool]size{true: {4, 4, 100}, false: {2, 2, 100}}
)

// large wants machines to be large enough.
func large(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		if own, known := declared(machine); known {
			judgeSize(sheet, machine.At("spec.machine"), machine.Name, judged{own, machine.ControlPlane, machine.Cluster.Production()})
		}
	}
	if all.Live == nil {
		return
	}
	for _, node := range all.Live.Nodes {
		labels, _ := node.Get("metadata.labels").(map[string]any)
		_, plane := labels["node-role.kubernetes.io/control-plane"]
		own := size{cores(node.String("status.capacity.cpu")), gibibytes(node.String("status.capacity.memory")), gibibytes(node.String("status.capacity[ephemeral-storage]"))}
		judgeSize(sheet, node.At("status.capacity"), node.Name(), judged{own, plane, false})
	}
}

// judged is a size and what it is to be enough for.
type judged struct {
	size
	plane, production bool
}

// judgeSize judges the size of one machine.
func judgeSize(sheet *rule.Sheet, place facts.Place, name string, own judged) {
	if what := below(own.size, least[own.plane]); what != "" {
		sheet.Fail(place, "%s has %s", name, what)
		return
	}
	if what := below(own.size, recommended[own.plane]); what != "" && own.production {
		sheet.FailAs(rule.Warning, place, "%s is in production and has %s", name, what)
		return
	}
	sheet.Pass(place)
}

// below says what is too small; empty if nothing is. Memory is compared with a tenth less, since a machine never sees all of it.
func below(own, wanted size) string {
	switch {
	case own.cores > 0 && own.cores < wanted.cores:
		return fmt.Sprintf("%g processors, and should have %g", own.cores, wanted.cores)
	case own.memory > 0 && own.memory < wanted.memory*0.9:
		return fmt.Sprintf("%.1f GiB of memory, and should have %g", own.memory, wanted.memory)
	case own.disk > 0 && own.disk < wanted.disk*0.9:
		return fmt.Sprintf("a disk of %.1f GiB, and should have %g", own.disk, wanted.disk)
	}
	return ""
}

// declared is the size that a declaration gives a machine.
func declared(machine *facts.Machine) (size, bool) {
	if machine.Pool == nil {
		return size{}, false
	}
	spec := machine.Pool.Object.Spec.Machine
	var resources *api.Resources
	own := size{}
	switch {
	case spec.KubeVirt != nil:
		resources = spec.KubeVirt.Size.Resources
		if disk := spec.KubeVirt.Disk; disk != nil && disk.Size != nil {
			own.disk = gibibytes(disk.Size.String())
		}
	case spec.Sim != nil:
		resources = spec.Sim.Resources
	}
	if resources == nil {
		return own, own.disk > 0
	}
	own.cores, own.memory = cores(resources.CPU.String()), gibibytes(resources.Memory.String())
	return own, true
}

// cores reads a number of processors; 0 if it is none.
func cores(text string) float64 {
	quantity, err := resource.ParseQuantity(text)
	if err != nil {
		return 0
	}
	return quantity.AsApproximateFloat64()
}

// gibibytes reads an amount of memory in GiB; 0 if it is none.
func gibibytes(text string) float64 { return cores(text) / (1 << 30) }
