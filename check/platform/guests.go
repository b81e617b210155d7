// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// agents are the guest agents, by extension, with the hypervisor that each is for.
var agents = map[string]string{"qemu-guest-agent": "qemu", "vmtoolsd-guest-agent": "vmware", "xen-guest-agent": "xen", "hyperv-guest-agent": "hyperv"}

// runs are the hypervisors of platforms that have one only.
var runs = map[string]string{"vmware": "vmware", "azure": "hyperv", "openstack": "qemu", "nocloud": "qemu", "hcloud": "qemu", "digital-ocean": "qemu"}

// hypervisor is what a machine runs on, and whether that is known: noted, or by its platform.
func hypervisor(machine *facts.Machine) (string, bool) {
	if note := strings.ToLower(machine.Notes[facts.NoteHypervisor]); note != "" {
		return note, true
	}
	if machine.Host != nil {
		return "none", true
	}
	name, ok := runs[of(machine)]
	return name, ok
}

// agent wants the agent of the right hypervisor.
func agent(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		for name, wants := range agents {
			if !machine.HasExtension(name) {
				continue
			}
			switch under, known := hypervisor(machine); {
			case !known:
				sheet.Unknown(machine.At(""), "%s has %s, and what it runs on is not known: note it as check.minos.dev/hypervisor", machine.Name, name)
			case under != wants:
				sheet.Fail(machine.At(""), "%s has %s and runs on %s: its boot never ends", machine.Name, name, strings.Replace(under, "none", "no hypervisor", 1))
			default:
				sheet.Pass(machine.At(""))
			}
		}
	}
}

// channel wants the channel where the agent of QEMU is.
func channel(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		if !machine.HasExtension("qemu-guest-agent") {
			continue
		}
		kubevirt := machine.Pool != nil && machine.Pool.Object.Spec.Machine.KubeVirt != nil
		if kubevirt || strings.EqualFold(machine.Notes[facts.NoteGuestChannel], "enabled") {
			sheet.Pass(machine.At(""))
			continue
		}
		sheet.Fail(machine.At(""), "%s has the agent of QEMU, and nobody says that its channel is enabled", machine.Name)
	}
}

// installed wants a machine of metal to be installed in a known way, on the right disk.
func installed(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		if of(machine) != "metal" {
			continue
		}
		disk := diskOf(machine)
		switch {
		case strings.HasPrefix(disk, "/dev/") && !strings.HasPrefix(disk, "/dev/disk/by-"):
			sheet.Fail(machine.At("machine.install.disk"), "%s is installed on %s, a name that may be another disk after the next start", machine.Name, disk)
		case machine.Notes[facts.NoteBootMethod] == "":
			sheet.Fail(machine.At(""), "nobody noted how %s is started", machine.Name)
		default:
			sheet.Pass(machine.At("machine.install"))
		}
	}
}

// diskOf is the disk that a machine is installed on, if it is chosen by its name.
func diskOf(machine *facts.Machine) string {
	if machine.Host != nil {
		return machine.Host.Disk.Path
	}
	if machine.Config == nil || machine.Config.RawV1Alpha1() == nil || machine.Config.RawV1Alpha1().MachineConfig == nil {
		return ""
	}
	install := machine.Config.RawV1Alpha1().MachineConfig.MachineInstall
	if install == nil {
		return ""
	}
	return install.InstallDisk
}

// microcode wants the microcode of the processor.
func microcode(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		virtual, known := hypervisor(machine)
		if of(machine) != "metal" || machine.Architecture == "arm64" || known && virtual != "none" { // a hypervisor does it for its guests
			continue
		}
		switch has := hasMicrocode(machine); {
		case !machine.ExtensionsKnown:
			sheet.Unknown(machine.At(""), "which extensions are in the image of %s is not known", machine.Name)
		case has:
			sheet.Pass(machine.At(""))
		case machine.Architecture == "":
			sheet.Unknown(machine.At(""), "the processor of %s is not known", machine.Name)
		default:
			sheet.Fail(machine.At(""), "%s has no microcode of its processor", machine.Name)
		}
	}
}

// hasMicrocode says whether an image has the microcode of the processor's vendor; of either, if that is not known.
func hasMicrocode(machine *facts.Machine) bool {
	amd, intel := machine.HasExtension("amd-ucode"), machine.HasExtension("intel-ucode")
	switch strings.ToLower(machine.Notes[facts.NoteProcessor]) {
	case "amd":
		return amd
	case "intel":
		return intel
	}
	return amd || intel
}
